"""The network: the undirected graph over the user and the own people (see docs/network.md).

`connectivity` and `drawing` are pure: plain ids in, plain ids and dictionaries out, no database.
"""
