"""Processes by a name that is given once: to see at once that whoever held something was killed."""

import os
import socket
import subprocess
from functools import cache
from pathlib import Path


def this_process() -> str:
    """The name of the process that asks, `machine:pid:start`; after a fork the child has its own."""
    return _name(os.getpid())


@cache
def _name(pid: int) -> str:
    return f"{_machine()}:{pid}:{start_of(pid)}"


def is_gone(process: str) -> bool:
    """Whether the very process has ended; one of another machine never has, as far as can be seen from here."""
    machine, _, rest = process.partition(":")
    pid, _, started = rest.partition(":")
    return machine == _machine() and pid.isdigit() and start_of(int(pid)) != started


@cache
def _machine() -> str:
    """What tells apart where numbers of processes mean the same: the running kernel and its namespace of them."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return socket.gethostname().replace(":", "")


def start_of(pid: int) -> str:
    """When the process started, in the system's units; empty when it is gone or waits to be reaped."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return "" if Path("/proc/self/stat").exists() else _by_ps(pid)
    except ProcessLookupError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


def _by_ps(pid: int) -> str:
    """The same where there is no /proc (macOS, BSD)."""
    command = ["/bin/ps", "-o", "lstart=", "-p", str(pid)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - fixed but for a number
    return answer.stdout.strip()
