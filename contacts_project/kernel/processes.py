"""Process identities that are never reused, to detect that the holder of a lease or message was killed."""

import os
import socket
import subprocess
from functools import cache
from pathlib import Path


def this_process() -> str:
    """Return the identity of the calling process, `machine:pid:start`. A forked child has another."""
    return _identify(os.getpid())  # the pid is the cache key, so that a child does not inherit the identity


@cache
def _identify(pid: int) -> str:
    return f"{_machine()}:{pid}:{start_of(pid)}"


def is_gone(process: str) -> bool:
    """Whether the process has ended. False for processes of other machines, which cannot be checked from here."""
    machine, _, rest = process.partition(":")
    pid, _, started = rest.partition(":")
    return machine == _machine() and pid.isdigit() and start_of(int(pid)) != started


@cache
def _machine() -> str:
    """Identify the pid namespace: boot id of the kernel and inode of the namespace; the host name without /proc."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return socket.gethostname().replace(":", "")


def start_of(pid: int) -> str:
    """Return the start time of the process in units of the system; empty if it has ended or is a zombie."""
    try:
        # The name of the program, in parentheses, may itself contain spaces and parentheses.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return "" if Path("/proc/self/stat").exists() else _read_start_with_ps(pid)
    except ProcessLookupError:
        return ""  # it ended between open and read
    return "" if fields[0] in "ZX" else fields[19]


def _read_start_with_ps(pid: int) -> str:
    """Return the start time on systems without /proc (macOS, BSD)."""
    command = ["/bin/ps", "-o", "lstart=", "-p", str(pid)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - fixed but for a number
    return result.stdout.strip()
