"""`python -m contacts_project.server`: one web process.

It listens on HOST and PORT, or on the already bound socket that its parent passes as file descriptor --fd.
"""

import argparse

from contacts_project.processes.child import add_pipes, set_up

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m contacts_project.server", description=__doc__)
    parser.add_argument("--fd", type=int)
    add_pipes(parser)
    options = parser.parse_args()
    set_up(options)
    from contacts_project.server.process import run  # needs Django set up

    run(options.fd)
