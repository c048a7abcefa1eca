"""Lets a call to another server take an hour, so that a server of a test can hold it until the test ends.

With the deadline of the service, ten seconds, a slow machine would end calls that a test means to be under way.
`python -m tests.patient_calls` is `python -m contacts_project.processes.background` with this.
"""

import runpy

from contacts_project.kernel.outbound.session import Rules
from contacts_project.kernel.outbound.sockets import Call

_HOUR = 3600.0
_start_call = Rules.start_call


def start_patient_call(rules: Rules, url: str, seconds: float | None = None, idle_seconds: float | None = None) -> Call:
    """Takes the place of Rules.start_call."""
    return _start_call(rules, url, _HOUR, _HOUR)


if __name__ == "__main__":
    Rules.start_call = start_patient_call  # type: ignore[method-assign, assignment]
    runpy.run_module("contacts_project.processes.background", run_name="__main__", alter_sys=True)
