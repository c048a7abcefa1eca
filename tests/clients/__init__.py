"""The clients of clients/, in TypeScript and in Python: what is generated, what is written, and the docs' programs.

`python -m tests.clients` generates, where git does not look.
"""
