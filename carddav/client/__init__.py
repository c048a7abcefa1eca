"""Address books on the WebDAV client of the kernel: which one is chosen, and writing it (RFC 6352)."""
