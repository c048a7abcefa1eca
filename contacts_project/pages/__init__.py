"""Pages for people who have no client at hand: the home page, and one person to read."""
