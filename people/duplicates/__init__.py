"""Record linkage: blocking keys, candidate pairs, similarity scores and groups of duplicates (docs/duplicates.md)."""
