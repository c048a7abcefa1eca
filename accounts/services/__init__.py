"""What happens to an account: begun, signed in to, changed, ended."""
