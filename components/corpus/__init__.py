"""What the Corpus page is made of."""
