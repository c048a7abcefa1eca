"""The devices of an account: what they are, what they did, and what can be undone."""
