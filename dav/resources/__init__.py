"""What stands at the paths below /dav/: each resource with its properties, members and privileges."""
