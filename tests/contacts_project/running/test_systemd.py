"""The units of deploy/systemd: systemd finds nothing wrong, and they run what compose.yaml runs."""

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.contacts_project.running.composition import SCRIPTS
from tests.workers import ROOT

UNITS = sorted((ROOT / "deploy" / "systemd").iterdir())


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd on this machine")
def test_systemd_finds_nothing_wrong(tmp_path: Path) -> None:
    for unit in UNITS:
        (tmp_path / unit.name).write_text(unit.read_text().replace("/srv/contacts/.venv/bin", str(SCRIPTS)))
    command = ["systemd-analyze", "verify", "--man=no", *(str(tmp_path / unit.name) for unit in UNITS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_units_run_the_commands_of_compose() -> None:
    text = "\n".join(unit.read_text() for unit in UNITS)
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    for name in ("migrate", "web", "worker", "chores", "beat"):
        assert f"ExecStart=/srv/contacts/.venv/bin/{' '.join(services[name]['command'])}\n" in text, name
