"""Web, worker and scheduler start with the packages of requirements/run.txt alone, and a reminder arrives."""

import re
import sysconfig
import time
import venv
from contextlib import ExitStack
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest
import requests
from django.conf import settings as project
from django.db import connection
from django_celery_beat.models import IntervalSchedule, PeriodicTask

from accounts.models import User
from tests.contacts_project.test_serve import Instance, serving
from tests.mailbox import Mailbox
from tests.notifications.test_workers import make_due
from tests.workers import database_url, redis_server

PINNED = re.compile(r"^([\w.-]+)==([^ ]+)( ;)?", re.MULTILINE)


def python_with_run_packages(folder: Path) -> Path:
    """An environment in which, of the packages installed for the tests, only those of run.txt can be imported."""
    venv.create(folder, with_pip=False)
    packages = Path(sysconfig.get_path("purelib", "posix_prefix", {"base": str(folder), "platbase": str(folder)}))
    for name, version, condition in PINNED.findall((project.BASE_DIR / "requirements" / "run.txt").read_text()):
        try:
            installed = distribution(name)
        except PackageNotFoundError:
            # Only a pin with an environment marker may be missing: it is for another system or Python.
            assert condition, f"{name} is not installed"
            continue
        assert installed.version == version
        for top in {file.parts[0] for file in installed.files or () if file.parts[0] != ".."}:
            if not (packages / top).exists():
                (packages / top).symlink_to(str(installed.locate_file(top)))
    return folder / "bin" / "python"


@pytest.mark.django_db(transaction=True)
def test_a_reminder_arrives_by_what_run_txt_installs(
    alice: User, tmp_path: Path, mailbox: Mailbox, settings: Any
) -> None:
    """With the embedded broker on SQLite, and with Redis on PostgreSQL."""
    make_due(alice, 1)
    second, _ = IntervalSchedule.objects.get_or_create(every=1, period=IntervalSchedule.SECONDS)
    PeriodicTask.objects.create(name="At once", task="notifications.tasks.due_scan", interval=second)
    python = python_with_run_packages(tmp_path / "python")
    with ExitStack() as servers:
        environment = {"DATABASE_URL": database_url(), "EMAIL_URL": f"smtp://127.0.0.1:{settings.EMAIL_PORT}"}
        if connection.vendor == "postgresql":
            environment |= {"REDIS_URL": servers.enter_context(redis_server()), "WEB_WORKERS": "1"}
        instance = servers.enter_context(serving(tmp_path / "data", str(python), **environment))
        wait_for_mail(mailbox, instance)
        assert [message["Subject"] for message in mailbox.messages] == ["Day 0: Ada"]
        health = requests.get(f"{instance.base}/api/health", timeout=60)
        assert (health.status_code, health.json()["checks"]["scheduler"]["status"]) == (200, "ok")


def wait_for_mail(mailbox: Mailbox, instance: Instance) -> None:
    deadline = time.monotonic() + 120
    while not mailbox.messages:
        if time.monotonic() > deadline:
            instance.process.terminate()
            pytest.fail(instance.process.communicate()[0])
        time.sleep(0.1)
