"""Which processes count as dead: a killed one at once, never a running one, and never one of another machine."""

import subprocess
import sys

from contacts_project.kernel.processes import is_gone, this_process
from tests import ROOT

PRINT_IDENTITY = (
    "from contacts_project.kernel.processes import this_process; print(this_process(), flush=True); input()"
)


def test_killed_process_is_dead() -> None:
    command = [sys.executable, "-c", PRINT_IDENTITY]
    child = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdin is not None
    assert child.stdout is not None
    with child.stdin, child.stdout:
        name = child.stdout.readline().strip()
        assert not is_gone(name)
        child.kill()
        child.wait()
        assert is_gone(name)


def test_reused_pid_is_another_process() -> None:
    machine, pid, start = this_process().split(":")
    assert not is_gone(f"{machine}:{pid}:{start}")
    assert is_gone(f"{machine}:{pid}:{start}0")
    assert not is_gone(f"elsewhere:{pid}:{start}0")
    assert not is_gone("")
