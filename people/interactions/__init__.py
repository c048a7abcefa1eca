"""Interactions: which of them is somebody's last contact, and where a page of them begins."""
