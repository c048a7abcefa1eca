"""Photos: decoded and made small in a process of their own, stored as files named by owner and content."""
