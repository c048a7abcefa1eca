"""Which people may be one and the same: keys, candidates, scoring, groups. See docs/duplicates.md."""
