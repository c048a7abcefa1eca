"""Everything an account owns as one JSON document, out of one account and into another.

Each app registers a Section for its tables. docs/accounts.md says what the document holds, and what is left out.
"""
