"""vdirsyncer, the reference client: its configuration for one book, and running it."""

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


def configure(folder: Path, *, url: str, user: str) -> None:
    """Have the files of `folder`/cards be one side, the book the other."""
    (folder / "config").write_text(_CONFIG.format(folder=folder, url=url, user=user, password=PASSWORD))


def run(folder: Path, command: str) -> None:
    """Run it as a process; its questions are answered with yes."""
    program = Path(sys.executable).parent / "vdirsyncer"
    environment = {**os.environ, "VDIRSYNCER_CONFIG": str(folder / "config"), "HOME": str(folder)}
    done = subprocess.run(
        [program, command], env=environment, capture_output=True, text=True, timeout=600, input="y\n", check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def run_here(folder: Path, command: str) -> None:
    """As `run`, in this process: to load it takes most of a run."""
    from vdirsyncer.cli import app

    environment = {"VDIRSYNCER_CONFIG": str(folder / "config"), "HOME": str(folder)}
    done = CliRunner().invoke(app, [command], input="y\n", env=environment)
    assert done.exit_code == 0, done.output
