"""Letters: one entry per household, its address as its country writes it, and sheets of labels. docs/letters.md."""
