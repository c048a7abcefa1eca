"""Photos: decoded and reduced, large ones in a separate process; stored as files named by content and owner."""
