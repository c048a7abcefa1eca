"""Files of vCards taken into an account, a batch of cards at a time."""
