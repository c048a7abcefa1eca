"""The relatives and friends that people's cards name."""
