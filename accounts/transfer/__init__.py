"""Export and import of everything that an account owns, as one JSON document.

Each app registers a Section for its tables. docs/accounts.md says what the document holds, and what is left out.
"""
