"""Configures and runs vdirsyncer, the reference client, on one address book."""

import os
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from tests.carddav.servers import PASSWORD

_CONFIG = """
[general]
status_path = "{folder}/status"

[pair contacts]
a = "local"
b = "remote"
collections = null

[storage local]
type = "filesystem"
path = "{folder}/cards"
fileext = ".vcf"

[storage remote]
type = "carddav"
url = "{url}"
username = "{user}"
password = "{password}"
"""


def configure(folder: Path, *, url: str, user: str, password: str = PASSWORD) -> None:
    """Write a configuration that syncs the files of `folder`/cards with the address book."""
    (folder / "config").write_text(_CONFIG.format(folder=folder, url=url, user=user, password=password))


def run(folder: Path, command: str) -> None:
    """Run a command as a process; its prompts are answered with yes."""
    program = Path(sys.executable).parent / "vdirsyncer"
    environment = {**os.environ, "VDIRSYNCER_CONFIG": str(folder / "config"), "HOME": str(folder)}
    done = subprocess.run(
        [program, command], env=environment, capture_output=True, text=True, timeout=600, input="y\n", check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def run_in_process(folder: Path, command: str) -> None:
    """Run a command in this process, which is faster than `run`: importing vdirsyncer takes most of a run."""
    from vdirsyncer.cli import app

    environment = {"VDIRSYNCER_CONFIG": str(folder / "config"), "HOME": str(folder)}
    done = CliRunner().invoke(app, [command], input="y\n", env=environment)
    assert done.exit_code == 0, done.output
