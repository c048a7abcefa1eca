"""The image, as far as it can be seen without a container engine: what comes into it, and what its user finds there."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from tests import ROOT
from tests.contacts_project.running.composition import copy_of_the_image

USER = "people/models.py"


def test_no_hidden_file_comes_into_the_image(tmp_path: Path) -> None:
    source = tmp_path / "source"
    others = [".env", "data/keys.json", "people/.env", "people/api/.person.py.swp", "tests/test_people.py"]
    for name in [USER, *others]:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text("")
    copy = copy_of_the_image(tmp_path / "copy", source)
    assert [str(path.relative_to(copy)) for path in copy.rglob("*") if path.is_file()] == [USER]


def test_the_user_of_the_image_can_read_all_of_it_and_write_nothing(tmp_path: Path) -> None:
    """From a clone that is its owner's alone, as after `umask 077`."""
    app = copy_of_the_image(tmp_path / "app")
    for path in [app, *app.rglob("*")]:
        path.chmod(0o700 if path.is_dir() else 0o600)
    command = ["sh", "-ec", prepare_the_app(tmp_path)]
    # Neither this test's settings nor what keeps it from writing compiled files.
    environment = {"PATH": os.environ["PATH"]}
    done = subprocess.run(command, cwd=app, env=environment, umask=0o022, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    made = list(app.rglob("*"))
    assert {str(path) for path in made if (path.stat().st_mode & 0o055) != (0o055 if path.is_dir() else 0o044)} == set()
    assert {str(path) for path in made if path.stat().st_mode & 0o022} == set()
    sources = {path for path in made if path.suffix == ".py"}
    compiled = {path.parent.parent / f"{path.name.split('.')[0]}.py" for path in made if path.suffix == ".pyc"}
    assert sources == compiled, "each start would compile what is not"
    assert {path for path in made if path.suffix == ".po"} == {
        path.with_suffix(".po") for path in made if path.suffix == ".mo"
    }


def prepare_the_app(folder: Path) -> str:
    """The step of the Dockerfile that follows `COPY . .`, with this machine's Python and a folder of the test."""
    lines = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    command = re.findall(r"^COPY \. \.\n(?:#.*\n)*RUN (.*)$", lines, re.MULTILINE)[0]
    python = shlex.quote(sys.executable)
    command = re.sub(r"(?<!\S)(/packages/bin/)?python(?!\S)", lambda _: python, command)
    return str(command.replace("/tmp/data", shlex.quote(str(folder / "data"))))
