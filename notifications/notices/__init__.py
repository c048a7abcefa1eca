"""What there is to tell, in words, and the way out of it."""
