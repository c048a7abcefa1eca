"""The files of the container image, tested without a container engine: which are copied, and their permissions."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from tests import ROOT
from tests.contacts_project.running.composition import copy_image_files

SOURCE_FILE = "people/models.py"


def test_hidden_files_are_not_copied_into_the_image(tmp_path: Path) -> None:
    source = tmp_path / "source"
    others = [".env", "data/keys.json", "people/.env", "people/api/.person.py.swp", "tests/test_people.py"]
    for name in [SOURCE_FILE, *others]:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text("")
    copy = copy_image_files(tmp_path / "copy", source)
    assert [str(path.relative_to(copy)) for path in copy.rglob("*") if path.is_file()] == [SOURCE_FILE]


def test_image_user_can_read_everything_and_write_nothing(tmp_path: Path) -> None:
    """Even if only its owner can read the clone, as after `umask 077`."""
    app = copy_image_files(tmp_path / "app")
    for path in [app, *app.rglob("*")]:
        path.chmod(0o700 if path.is_dir() else 0o600)
    command = ["sh", "-ec", build_command(tmp_path)]
    # Without the variables of the test run, such as PYTHONDONTWRITEBYTECODE.
    environment = {"PATH": os.environ["PATH"]}
    done = subprocess.run(command, cwd=app, env=environment, umask=0o022, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    made = list(app.rglob("*"))
    assert {str(path) for path in made if (path.stat().st_mode & 0o055) != (0o055 if path.is_dir() else 0o044)} == set()
    assert {str(path) for path in made if path.stat().st_mode & 0o022} == set()
    sources = {path for path in made if path.suffix == ".py"}
    compiled = {path.parent.parent / f"{path.name.split('.')[0]}.py" for path in made if path.suffix == ".pyc"}
    assert sources == compiled, "each start would compile the files that are not compiled"
    assert {path for path in made if path.suffix == ".po"} == {
        path.with_suffix(".po") for path in made if path.suffix == ".mo"
    }


def build_command(folder: Path) -> str:
    """The command of the Dockerfile after `COPY . .`, with this machine's Python and a data folder of the test."""
    lines = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    command = re.findall(r"^COPY \. \.\n(?:#.*\n)*RUN (.*)$", lines, re.MULTILINE)[0]
    python = shlex.quote(sys.executable)
    command = re.sub(r"(?<!\S)(/packages/bin/)?python(?!\S)", lambda _: python, command)
    return str(command.replace("/tmp/data", shlex.quote(str(folder / "data"))))
