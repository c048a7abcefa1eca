"""The key ring: what the service must be able to read back is encrypted under it at rest."""
