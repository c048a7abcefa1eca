"""`make run` in a new clone: the requests of the README work as printed, and Ctrl-C stops all processes.

The shared instance has the packages of requirements/run.txt alone, as `make run` installs them.
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests
from django.core.management import CommandError, call_command

from contacts_project.data_folder import readable_by_others
from contacts_project.processes import supervisor
from tests import ROOT
from tests.contacts_project.run_packages import python_with_run_packages
from tests.loopback import closed_port
from tests.mailbox import Mailbox, smtp_server
from tests.workers import run_manage

#: A program that makes the scheduler look for due reminders each second; usually it does each minute.
SCAN_EACH_SECOND = """
from django_celery_beat.models import IntervalSchedule, PeriodicTask
second, _ = IntervalSchedule.objects.get_or_create(every=1, period=IntervalSchedule.SECONDS)
PeriodicTask.objects.create(name="At once", task="notifications.tasks.due_scan", interval=second)
"""


@dataclass
class Instance:
    """A served instance on a port of its own."""

    process: "subprocess.Popen[str]"
    base: str
    data: Path
    idle_bytes: int = 0  # memory before the first request


@pytest.fixture(scope="module")
def mail_server() -> Iterator[Mailbox]:
    with smtp_server() as mailbox:
        yield mailbox


@pytest.fixture(scope="module")
def shared_instance(mail_server: Mailbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """An instance that several tests share. At the end it is killed, and none of its processes may survive."""
    data = tmp_path_factory.mktemp("served") / "data"
    (data / "media" / "photos").mkdir(parents=True)
    (data / "media" / "photos" / "old.jpg").write_bytes(b"")
    for path in (data, *data.rglob("*")):
        path.chmod(0o755)
    python = python_with_run_packages(data.parent / "python")
    with run_instance(data, str(python), EMAIL_URL=mail_server.url) as served:
        served.idle_bytes = memory_of(served)
        yield served
        kill_and_check_children(served)


@pytest.fixture(scope="module")
def token(shared_instance: Instance, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The API token that the first block of the README prints."""
    script = shell_blocks("A first request")[0].replace("http://127.0.0.1:8000", shared_instance.base)
    token = re.search(r"cnt_\w{46}", run_shell(script, tmp_path_factory.mktemp("registered")))
    assert token
    return token.group()


@contextmanager
def run_instance(data: Path, python: str = sys.executable, **more: str) -> Iterator[Instance]:
    """Run an instance on `data` with that Python; `more` is added to its environment.

    Afterwards it is stopped, and must stop all of its processes.
    """
    port = closed_port()
    left_out = {"DATABASE_URL", "TEST_DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE", "SECRET_KEY"}
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    environment |= {"PORT": str(port), "DATA_DIR": str(data), "PYTHONUNBUFFERED": "1", **more}
    process = subprocess.Popen(
        [python, "manage.py", "serve"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        umask=0o022,  # the usual umask, so that other users could read what the service does not protect
    )
    assert process.stdout
    for line in process.stdout:
        if line.startswith("Ready at"):
            break
    else:
        raise AssertionError("the instance never became ready")
    try:
        yield Instance(process, f"http://127.0.0.1:{port}", data)
        if process.poll() is None:
            stop_and_check_children(process)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=120)


def shell_blocks(after: str, page: str = "README.md") -> list[str]:
    """The sh blocks in the section `after` of the page."""
    section = (ROOT / page).read_text().partition(f"## {after}")[2].partition("\n## ")[0]
    return re.findall(r"```sh\n(.*?)```", section, re.DOTALL)


def test_the_first_request_of_the_readme_works_as_printed(
    shared_instance: Instance, token: str, tmp_path: Path
) -> None:
    _, *use = shell_blocks("A first request")
    (tmp_path / "contacts.vcf").write_bytes(
        b"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Grace Hopper\r\nN:Hopper;Grace;;;\r\nEND:VCARD\r\n"
    )
    script = "".join(use).replace("http://127.0.0.1:8000", shared_instance.base).replace("cnt_...", token)
    printed = run_shell(script, tmp_path)
    assert printed.count("Babbage") >= 2, printed
    assert '"imported":1' in printed, printed


def test_idle_instance_uses_less_than_300_mb(shared_instance: Instance) -> None:
    assert 0 < shared_instance.idle_bytes < 300 * 1024 * 1024  # in all processes together


def test_the_first_reminder_of_the_docs_arrives(
    shared_instance: Instance, token: str, mail_server: Mailbox, tmp_path: Path
) -> None:
    script = shell_blocks("A first reminder by mail", "docs/running.md")[-1]
    run_shell(f"token={token}\n{script.replace('http://127.0.0.1:8000', shared_instance.base)}", tmp_path)
    environment = {"DATA_DIR": str(shared_instance.data), "DATABASE_URL": ""}
    exit_code, output = run_manage(tmp_path, environment, "shell", "-c", SCAN_EACH_SECOND)
    assert exit_code == 0, output
    deadline = time.monotonic() + 120
    while "Birthday: Grace" not in {message["Subject"] for message in mail_server.messages}:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    health = requests.get(f"{shared_instance.base}/api/health", timeout=60)
    assert (health.status_code, health.json()["checks"]["scheduler"]["status"]) == (200, "ok")


def run_shell(script: str, folder: Path) -> str:
    done = subprocess.run(["bash", "-ec", script], cwd=folder, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_chunked_body_is_accepted_up_to_the_limit(shared_instance: Instance) -> None:
    account = json.dumps({"email": "grace@example.org", "password": "Analytical-1", "name": "Grace"}).encode()
    headers = {"Content-Type": "application/json"}
    url = f"{shared_instance.base}/api/auth/register"
    created = requests.post(url, data=iter([account[:20], account[20:]]), headers=headers, timeout=60)
    assert created.status_code == 201, created.text
    too_much = requests.post(url, data=(b" " * 65536 for _ in range(17)), headers=headers, timeout=60)
    assert (too_much.status_code, too_much.json()["code"]) == (413, "too_large")


def test_files_of_an_instance_are_private(shared_instance: Instance) -> None:
    """Files of an older version are protected, too."""
    deadline = time.monotonic() + 120
    while not (shared_instance.data / "broker.sqlite3").exists():  # created by the worker; web may be ready first
        assert time.monotonic() < deadline
        time.sleep(0.05)
    files = list(shared_instance.data.rglob("*"))
    assert {"contacts.sqlite3", "broker.sqlite3", "keys.json", "old.jpg"} <= {path.name for path in files}
    assert list(readable_by_others([shared_instance.data, *files])) == []


def test_rarely_needed_libraries_are_not_loaded(shared_instance: Instance) -> None:
    """HEIF, browser push and PostgreSQL's driver take 20 MB in each process; Django 100 MB in the supervisor."""
    loaded = {
        pid: Path(f"/proc/{pid}/maps").read_text()
        for pid in [shared_instance.process.pid, *children_of(shared_instance.process.pid)]
    }
    assert not [name for name in ("_pillow_heif", "aiohttp", "psycopg") for maps in loaded.values() if name in maps]
    assert "site-packages" not in loaded[shared_instance.process.pid]


def memory_of(instance: Instance) -> int:
    """Resident memory of all processes in bytes, as `ps` shows it."""
    taken = 0
    for pid in [instance.process.pid, *children_of(instance.process.pid)]:
        found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
        assert found
        taken += int(found[1]) * 1024
    return taken


def kill_and_check_children(instance: Instance) -> None:
    """Kill the supervisor, which then cannot stop its children: they must end by themselves."""
    children = children_of(instance.process.pid)
    instance.process.kill()
    instance.process.communicate(timeout=60)
    deadline = time.monotonic() + 60
    while [pid for pid in children if is_running(pid)] and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not [pid for pid in children if is_running(pid)]


def stop_and_check_children(process: "subprocess.Popen[str]") -> None:
    children = children_of(process.pid)
    assert len(children) == 2
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=120)
    assert process.returncode == 0
    assert not [pid for pid in children if is_running(pid)]


def test_killed_child_is_restarted(shared_instance: Instance) -> None:
    before = children_of(shared_instance.process.pid)
    [web] = [pid for pid in before if "contacts_project.server" in Path(f"/proc/{pid}/cmdline").read_text()]
    os.kill(web, signal.SIGKILL)
    deadline = time.monotonic() + 60
    while len(now := children_of(shared_instance.process.pid)) < 2 or web in now:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert len(set(before) & set(now)) == 1, "the worker has no part in it"
    assert requests.get(f"{shared_instance.base}/api/health", timeout=60).status_code == 200


def test_child_that_does_not_stop_is_killed_with_its_descendants(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "GRACE_SECONDS", 0.5)
    monkeypatch.setattr(signal, "signal", lambda number, handler: None)
    noted = tmp_path / "pid"
    stubborn = f"trap '' TERM; sleep 300 & echo $! > {noted}.new; mv {noted}.new {noted}; while :; do sleep 1; done"
    with socket.socket() as listener:
        keeper = supervisor.Supervisor({"web": ["bash", "-c", stubborn]}, listener)
    while not noted.exists():
        time.sleep(0.05)
    keeper.end()
    keeper.children["web"].wait(60)
    deadline = time.monotonic() + 60
    while is_running(int(noted.read_text())):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_port_in_use_is_reported(settings: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        settings.HOST, settings.PORT = taken.getsockname()
        with pytest.raises(CommandError, match=f"Cannot listen on 127.0.0.1:{settings.PORT}: .*Choose another"):
            call_command("serve")


def children_of(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_running(pid: int) -> bool:
    """Whether the process exists and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
