"""Pages about the account below /account/: signing in and out, and where mailed links lead."""
