"""A PostgreSQL server whose databases have the Turkish collation of ICU, where LOWER('I') is a dotless i."""

import os
import pwd
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

# Where the packages of Debian and Ubuntu put it; the server of the wheel is built without ICU.
_FOLDERS = "/usr/lib/postgresql"


@contextmanager
def turkish_server() -> Iterator[str]:
    """Start a server of the machine; yields its URL. Skips the test where there is none with ICU."""
    binaries = sorted(Path(_FOLDERS).glob("*/bin"), key=lambda folder: int(folder.parent.name), reverse=True)
    if not binaries:
        pytest.skip(f"There is no PostgreSQL in {_FOLDERS}, and the server of the wheel is built without ICU.")
    with tempfile.TemporaryDirectory(prefix="tr-") as folder:
        data = Path(folder) / "data"
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            account = _unprivileged_account()
            os.chown(folder, account.pw_uid, account.pw_gid)
        options = ["--locale-provider=icu", "--icu-locale=tr", "--encoding=UTF8", "--auth=trust", "--username=postgres"]
        made = _run(binaries[0] / "initdb", "--pgdata", data, "--no-sync", *options)
        if made.returncode:
            pytest.skip(f"{binaries[0]} has no ICU: {made.stderr.strip().splitlines()[-1]}")
        arguments = f"-c listen_addresses='' -c fsync=off -k {folder}"
        control = binaries[0] / "pg_ctl"
        started = _run(control, "start", "--wait", "-D", data, "-l", f"{folder}/log", "-o", arguments)
        assert started.returncode == 0, started.stderr
        try:
            yield f"postgresql://postgres@/postgres?host={folder}"
        finally:
            _run(control, "stop", "--wait", "-D", data, "-m", "immediate")


def _run(*command: object) -> "subprocess.CompletedProcess[str]":
    user = _unprivileged_account().pw_name if os.geteuid() == 0 else None
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, user=user, cwd="/"
    )


def _unprivileged_account() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return pwd.getpwnam("nobody")
