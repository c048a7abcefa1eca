"""`make soak`: mixed load on a whole instance while its processes, servers and disk fail.

Afterwards no acknowledged write may be missing, no reminder lost, and `doctor --deep` must report nothing.
Then random histories of shares run.
"""
