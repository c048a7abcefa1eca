"""Views of relationships, types and the network."""
