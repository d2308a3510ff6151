"""What the Boost page is made of."""
