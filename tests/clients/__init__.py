"""Clients generated from the API description, in TypeScript and in Python, and a small program that uses each.

`python -m tests.clients` generates them beside the programs, where git does not look.
"""
