"""The network: an undirected graph whose nodes are the user and the account's people (see docs/network.md).

`connectivity`, `components` and `graph_builder` are pure: they take and return plain ids and dictionaries, no database.
"""
