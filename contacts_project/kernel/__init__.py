"""What every app stands on; it sees none of them."""
