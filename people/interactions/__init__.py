"""Interactions: the last contact that follows from them, and their pagination."""
