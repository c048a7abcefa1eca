"""Every setting is read by one table; a wrong value stops the start with one line; docs/settings.md is that table."""

import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from django.conf import settings

from contacts_project.data_folder import make_private, own_paths
from contacts_project.environment import page
from contacts_project.environment.reader import WrongSettingError, load_env_file, misspelt_names, read_settings
from contacts_project.environment.table import SETTINGS
from notifications.vapid import make_keys, public_key_of
from tests.fork_targets import run_module
from tests.workers import run_manage, start_fork

APPS = ("contacts_project", "accounts", "people", "relationships", "carddav", "meetings", "notifications", "sharing")


def test_settings_page_is_generated_from_the_table() -> None:
    assert (settings.BASE_DIR / "docs" / "settings.md").read_text() == "".join(page.lines())


def test_only_the_table_reads_the_environment() -> None:
    reads = re.compile(r"environ\[|environ\.get\(|getenv|\benv\.\w+\(")
    found = {
        str(file) for app in APPS for file in (settings.BASE_DIR / app).rglob("*.py") if reads.search(file.read_text())
    }
    assert found == set()


def test_defaults_are_valid_values_and_empty_means_unset() -> None:
    given = {setting.name: setting.default for setting in SETTINGS}
    assert read_settings(given) == read_settings({}) == read_settings(dict.fromkeys(given, " "))


@pytest.mark.parametrize(
    ("line", "allowed"),
    [
        ("PORT=abc", "a whole number from 1 to 65535"),
        ("PORT=70000", "a whole number from 1 to 65535"),
        ("HOST=http://0.0.0.0", "a host name or an address"),
        ("BASE_URL=example.org", "begins with http:// or https://"),
        ("BASE_URL=https://example.org:http", "begins with http:// or https://"),
        ("BASE_URL=ftp://example.org", "begins with http:// or https://"),
        ("BASE_URL=https://example.org/contacts", "begins with http:// or https:// and a host, without a path"),
        ("BASE_URL=https://example.org/contacts/", "without a path"),
        ("BASE_URL=https://example.org//", "without a path"),
        ("APP_URL=https://app.example.org/people", "holds {id}"),
        ("APP_URL=https://{id}.example.org/", "holds {id}"),
        ("APP_URL=javascript:alert({id})", "begins with http:// or https://"),
        ("ALLOWED_HOSTS=192.168.1.5:8000", "without scheme and port"),
        ("OIDC_APP_REDIRECT_URIS=http://127.0.0.1/a,http://localhost/a", "redirect URIs of apps"),
        ("CORS_ALLOWED_ORIGINS=https://app.example.org,app.example.org", "origins such as"),
        ("SESSION_SAMESITE=Never", "Lax, Strict or None"),
        ("SESSION_SAMESITE=None", "Lax or Strict, unless BASE_URL begins with https://"),
        ("TRUSTED_PROXY_COUNT=-1", "a whole number from 0 on"),
        ("DATABASE_URL=mysql://x", "postgres://user:password@host:port/name"),
        ("DATABASE_URL=postgres://localhost", "postgres://user:password@host:port/name"),
        ("REDIS_URL=localhost:6379", "redis://host:port/0"),
        ("SAAS_MODE=yes please", "true or false"),
        ("DEBUG=maybe", "true or false"),
        ("LOG_LEVEL=LOUD", "DEBUG, INFO, WARNING, ERROR or CRITICAL"),
        ("REGISTRATION=opne", "open, first or closed"),
        ("EMAIL_VERIFICATION=always", "optional or mandatory"),
        ("TIME_ZONE=Mars/Olympus", "IANA time zone"),
        ("PLAN_LIMITS={", "a JSON object"),
        ('PLAN_LIMITS={"FREE": {"people": "5"}}', "a JSON object"),
        ('PLAN_LIMITS={"FREE": {"persons": 5}}', "a JSON object"),
        ("EMAIL_URL=smpt://x", "smtp://host:port"),
        ("EMAIL_URL=smtp://", "smtp://host:port"),
        ("DEFAULT_FROM_EMAIL=Contacts", "an address of mail"),
        ("OUTBOUND_ALLOWED_NETWORKS=127.0.0.0/8,nonsense", "networks such as"),
        ("OUTBOUND_ALLOWED_PORTS=http", "port numbers"),
        ("OUTBOUND_CA_FILE=/no/such/file", "PEM"),
        ("VAPID_SUBJECT=me", "mailto:"),
        ("GEOCODER_URL=nominatim", "begins with http:// or https://"),
        ("GEOCODER_INTERVAL_SECONDS=soon", "a number"),
        ("MAP_TILES_URL=https://tiles.example.org/", "holds {z}, {x} and {y}"),
        ("MAP_TILES_URL=https://{s}.tiles.example.org/{z}/{x}/{y}.png", "holds {z}, {x} and {y}"),
        ("MAP_TILES_URL=https://{x}.example.org/{z}/{x}/{y}.png", "behind its host"),
        ("MAP_TILES_URL=https://example.org; script-src */{z}/{x}/{y}", "begins with http:// or https://"),
        ("MAX_PHOTO_BYTES=20MiB", "a whole number"),
    ],
)
def test_wrong_value_is_reported_with_the_allowed_values(line: str, allowed: str) -> None:
    name, _, value = line.partition("=")
    with pytest.raises(WrongSettingError) as caught:
        read_settings({name: value})
    message = str(caught.value)
    assert message.startswith(f"{line} is not allowed. Allowed: ")
    assert allowed in message


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("ENCRYPTION_KEYS=s3cret", "ENCRYPTION_KEYS=***"),
        ("DATABASE_URL=mysql://me:s3cret@db:3306/x", "DATABASE_URL=mysql://***@db:3306/x"),
        ("DATABASE_URL=mysql://me:a/s3cret?b#c@d@db/x?password=s3cret", "DATABASE_URL=mysql://***@db/x?***"),
        ("DATABASE_URL=host=db password=s3cret", "DATABASE_URL=***"),
        ("REDIS_URL=redis://:s3cret#1@host", "REDIS_URL=redis://***@host"),
        ("EMAIL_URL=smpt://me:s3cret", "EMAIL_URL=smpt://***"),
        ("GEOCODER_URL=https://me:s3cret@maps.example.org", "GEOCODER_URL=https://***@maps.example.org"),
        ("REGISTRATION=\x1b[31m\nopen" + "n" * 200, "REGISTRATION=\\x1b[31m\\nopennn"),
    ],
)
def test_error_contains_no_secret_and_one_line(line: str, shown: str) -> None:
    name, _, value = line.partition("=")
    with pytest.raises(WrongSettingError) as caught:
        read_settings({name: value})
    message = str(caught.value)
    assert message.startswith(shown)
    assert "s3cret" not in message
    assert "\n" not in message
    assert len(message) < 350


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("REGISTRATION = first", "line 2: REGISTRATION = first is not allowed"),
        (" SECRET_KEY =s3cret", "line 2: SECRET_KEY = *** is not allowed"),
        ("s3cret", "line 2: a line of another form is not allowed"),
    ],
)
def test_invalid_line_of_the_env_file_is_reported(tmp_path: Path, line: str, shown: str) -> None:
    file = tmp_path / ".env"
    file.write_text(f"# ours\n{line}\n")
    with pytest.raises(WrongSettingError) as caught:
        load_env_file(file)
    assert shown in str(caught.value)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    "command",
    [
        ["manage.py", "doctor"],
        ["-m", "celery", "-A", "contacts_project", "worker"],
        ["-m", "contacts_project.server"],
        ["-m", "contacts_project.processes.background"],
    ],
)
def test_every_process_stops_with_a_one_line_error(tmp_path: Path, command: list[str]) -> None:
    assert run_failing(command, PORT="abc", DATA_DIR=str(tmp_path)) == (
        "PORT=abc is not allowed. Allowed: a whole number from 1 to 65535.\n"
    )


def test_web_process_reports_a_port_in_use(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        web = start_fork(
            run_module, tmp_path / "output", {"PORT": str(port), "DATA_DIR": str(tmp_path)}, "contacts_project.server"
        )
        web.join(180)
    assert web.exitcode == 1
    line = (tmp_path / "output").read_text()
    assert re.match(rf"Cannot listen on 127\.0\.0\.1:{port}: .*Choose another.*\n$", line)


def test_data_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" / "data"
    expected = f"DATA_DIR={folder} is not allowed. Allowed: a folder that can be made and written (Not a directory).\n"
    assert run_manage(tmp_path, {"DATA_DIR": str(folder)}, "check") == (1, expected)


@pytest.mark.parametrize("text", ["{", "{}", "[]", '{"SECRET_KEY": "x", "ENCRYPTION_KEY": "x"}'])
def test_damaged_key_file_is_reported(tmp_path: Path, text: str) -> None:
    file = tmp_path / "keys.json"
    file.write_text(text)
    expected = f"{file} is damaged. Put the one of your backup in its place.\n"
    environment = {"DATA_DIR": str(tmp_path), "SECRET_KEY": "", "ENCRYPTION_KEYS": ""}
    assert run_manage(tmp_path, environment, "check") == (1, expected)


def test_key_file_is_not_created_if_all_keys_are_set(tmp_path: Path) -> None:
    """A key file with other keys would be kept beside the backups and could not decrypt them."""
    keys = {"SECRET_KEY": "x", "ENCRYPTION_KEYS": Fernet.generate_key().decode()}
    for missing in (None, "SECRET_KEY"):
        assert not (tmp_path / "keys.json").exists()
        given = {name: value for name, value in keys.items() if name != missing}
        environment = {"SECRET_KEY": "", "DATA_DIR": str(tmp_path), **given}
        assert run_manage(tmp_path, environment, "shell", "--no-imports", "-c", "") == (0, "")
    assert (tmp_path / "keys.json").exists()


def test_push_keys_are_made_at_the_first_start_and_stay(tmp_path: Path) -> None:
    show = "from django.conf import settings; print(settings.VAPID_PUBLIC_KEY, settings.VAPID_PRIVATE_KEY)"
    environment = {"DATA_DIR": str(tmp_path), "VAPID_PUBLIC_KEY": "", "VAPID_PRIVATE_KEY": ""}
    first, again = (run_manage(tmp_path, environment, "shell", "--no-imports", "-c", show) for _ in range(2))
    public, private = first[1].split()
    assert (first[0], again) == (0, first)
    assert public_key_of(private) == public
    assert (tmp_path / "vapid.json").stat().st_mode & 0o777 == 0o600
    set_by_hand = make_keys()
    environment |= {"VAPID_PUBLIC_KEY": set_by_hand.public, "VAPID_PRIVATE_KEY": set_by_hand.private}
    shown = run_manage(tmp_path, environment, "shell", "--no-imports", "-c", show)
    assert shown[1].split() == [set_by_hand.public, set_by_hand.private]


@pytest.mark.parametrize("text", ["{", "[]", '{"public": "x"}'])
def test_damaged_file_of_push_keys_is_reported(tmp_path: Path, text: str) -> None:
    file = tmp_path / "vapid.json"
    file.write_text(text)
    environment = {"DATA_DIR": str(tmp_path), "VAPID_PUBLIC_KEY": "", "VAPID_PRIVATE_KEY": ""}
    expected = f"{file} is damaged. Put the one of your backup in its place.\n"
    assert run_manage(tmp_path, environment, "check") == (1, expected)


def test_creation_of_the_default_data_folder_is_reported(tmp_path: Path) -> None:
    """Without DATA_DIR, the folder `data` beside manage.py is created, and a line says so."""
    for app in ("contacts_project", "accounts", "notifications"):
        shutil.copytree(settings.BASE_DIR / app, tmp_path / app)
    first, again = (run(["-c", "import contacts_project.settings"], {"DATA_DIR": ""}, tmp_path) for _ in range(2))
    assert first.stderr == f"Made the data folder {tmp_path}/data. If your instance lies elsewhere, set DATA_DIR.\n"
    assert (again.stderr, (tmp_path / "data").stat().st_mode & 0o777) == ("", 0o700)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("", "The database is empty. Set DATA_DIR (now {}) or DATABASE_URL"),
        ("postgres://me:s3cret@127.0.0.1:1/contacts", "The database does not answer: "),
    ],
)
def test_command_without_database_reports_it_in_one_line(tmp_path: Path, url: str, expected: str) -> None:
    exit_code, line = run_manage(tmp_path, {"DATA_DIR": str(tmp_path), "DATABASE_URL": url}, "deliver_reminders")
    assert exit_code == 1
    assert line.startswith(expected.format(tmp_path))
    assert line.count("\n") == 1
    assert "s3cret" not in line


def test_command_with_tables_of_an_older_version_reports_it_in_one_line(tmp_path: Path) -> None:
    environment = {"DATA_DIR": str(tmp_path), "DATABASE_URL": ""}
    assert run_manage(tmp_path, environment, "migrate", "--verbosity", "0")[0] == 0
    with sqlite3.connect(tmp_path / "contacts.sqlite3") as database:
        database.execute("DROP TABLE notifications_delivery")
        database.execute("DELETE FROM django_migrations WHERE app = 'notifications'")
    exit_code, line = run_manage(tmp_path, environment, "deliver_reminders")
    assert (exit_code, line) == (1, "The tables are those of an older version: run manage.py migrate.\n")


def test_doctor_reports_why_the_database_does_not_answer(tmp_path: Path) -> None:
    url = "postgres://me:s3cret@127.0.0.1:1/contacts"
    _, output = run_manage(tmp_path, {"DATA_DIR": str(tmp_path), "DATABASE_URL": url}, "doctor")
    [line] = [line for line in output.splitlines() if line.startswith("ERROR")]
    assert re.match(r"ERROR  The database does not answer: .*refused\.$", line)
    assert "s3cret" not in output


def test_foreign_files_in_the_data_folder_keep_their_mode(tmp_path: Path) -> None:
    """DATA_DIR=/tmp must not change the mode of /tmp."""
    paths = [tmp_path, tmp_path / "foreign", tmp_path / "keys.json"]
    for path in paths:
        path.touch()
        path.chmod(0o755)
    make_private(own_paths(tmp_path))
    assert [path.stat().st_mode & 0o777 for path in paths] == [0o755, 0o755, 0o700]


def test_misspelt_setting_is_found(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("REGISTRATIN=closed\nPORT=8000\nPOSTGRES_PASSWORD=x\n")
    assert list(misspelt_names(file)) == [("REGISTRATIN", "REGISTRATION")]


def test_settings_have_the_values_of_the_variables(tmp_path: Path) -> None:
    expressions = (
        "s.SESSION_COOKIE_SAMESITE, s.CSRF_COOKIE_SAMESITE, s.CSRF_COOKIE_SECURE, s.DATABASES['default']['NAME']"
    )
    given = {
        "SESSION_SAMESITE": "none",
        "BASE_URL": "https://example.org/",
        "DATABASE_URL": "",
        "DATA_DIR": str(tmp_path),
    }
    program = f"from django.conf import settings as s; print({expressions}, s.BASE_URL)"
    exit_code, output = run_manage(tmp_path, given, "shell", "--no-imports", "-c", program)
    assert exit_code == 0
    assert output.split() == ["None", "None", "True", str(tmp_path / "contacts.sqlite3"), "https://example.org"]


def run_failing(command: list[str], **environment: str) -> str:
    """The output of a command that must fail at the start: exactly one line."""
    done = run(command, environment)
    assert (done.returncode, done.stdout) == (1, "")
    return done.stderr


def run(
    command: list[str], environment: dict[str, str], folder: Path = settings.BASE_DIR
) -> "subprocess.CompletedProcess[str]":
    whole = {**os.environ, "DJANGO_SETTINGS_MODULE": "contacts_project.settings", **environment}
    return subprocess.run(
        [sys.executable, *command], cwd=folder, env=whole, capture_output=True, text=True, check=False
    )
