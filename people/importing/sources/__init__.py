"""Files of other products read as cards: see docs/imports.md, which cites each format."""
