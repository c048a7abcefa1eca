"""The units in deploy/systemd are valid, and run the same commands as compose.yaml."""

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests import ROOT
from tests.contacts_project.running.composition import SCRIPTS

UNITS = sorted((ROOT / "deploy" / "systemd").iterdir())


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd on this machine")
def test_units_are_valid(tmp_path: Path) -> None:
    for unit in UNITS:
        (tmp_path / unit.name).write_text(unit.read_text().replace("/srv/contacts/.venv/bin", str(SCRIPTS)))
    command = ["systemd-analyze", "verify", "--man=no", *(str(tmp_path / unit.name) for unit in UNITS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_units_run_the_commands_of_compose() -> None:
    text = "\n".join(unit.read_text() for unit in UNITS)
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    for name in ("migrate", "web", "worker", "chores", "beat"):
        assert f"ExecStart=/srv/contacts/.venv/bin/{' '.join(services[name]['command'])}\n" in text, name


def test_contacts_manage_uses_the_settings_of_the_service(tmp_path: Path) -> None:
    """Values are read literally, quoted or not: a shell would cut DATABASE_URL at the `&` and run the rest."""
    url = "postgres://me:se$cret@127.0.0.1:1/contacts?pool=4..20&pooler=transaction"
    name = "Contacts <us@example.org> & $PATH"
    lines = ("# mail", "", f"DATABASE_URL={url}", f'DEFAULT_FROM_EMAIL="{name}"', f"OIDC_NAME='{name}'")
    (tmp_path / "contacts.env").write_text("\n".join(lines))
    text = (ROOT / "deploy" / "contacts-manage").read_text()
    here = {
        "/var/lib/contacts": str(tmp_path / "data"),
        "/etc/contacts.env": str(tmp_path / "contacts.env"),
        "/srv/contacts": str(ROOT),
        "runuser -u contacts -- .venv/bin/python": str(SCRIPTS / "python"),
    }
    for there, path in here.items():
        assert there in text
        text = text.replace(there, path)
    script = tmp_path / "contacts-manage"
    script.write_text(text)
    program = (
        "from django.conf import settings as s; base = s.DATABASES['default']; "
        "print(s.DATA_DIR, s.DEFAULT_FROM_EMAIL, s.OIDC_NAME, base['HOST'], base['PASSWORD'])"
    )
    command = ["sh", str(script), "shell", "--no-imports", "-c", program]
    environment = {"PATH": "/usr/bin:/bin", "DJANGO_SETTINGS_MODULE": "contacts_project.settings"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == f"{tmp_path / 'data'} {name} {name} 127.0.0.1 se$cret\n", done.stderr
