"""`python -m contacts_project.server`: one web process.

It listens on HOST and PORT, or on the already bound socket that its parent passes as file descriptor --fd.
"""

import argparse

from contacts_project.processes.child import exit_with_parent, set_up_django
from contacts_project.processes.watchdog import beat_to_supervisor

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m contacts_project.server", description=__doc__)
    parser.add_argument("--fd", type=int)
    parser.add_argument("--parent", type=int, help="a pipe that ends with the process that started this one")
    parser.add_argument("--beats", type=int, help="a pipe to that process, which replaces this one if it is silent")
    options = parser.parse_args()
    if options.parent is not None:
        exit_with_parent(options.parent)
    if options.beats is not None:
        beat_to_supervisor(options.beats)
    set_up_django()
    from contacts_project.server.process import run  # needs Django set up

    run(options.fd)
