"""Mixed load on a whole instance whose processes, servers and disk fail meanwhile: `make soak`.

Afterwards nothing that was acknowledged may be missing, no reminder lost, and `doctor --deep` has nothing to name.
"""
