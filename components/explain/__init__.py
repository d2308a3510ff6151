"""What the Explain page is made of."""
