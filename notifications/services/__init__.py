"""What notifications do: destinations and devices, the ledger, the digest."""
