"""The shape of what accounts take and answer."""
