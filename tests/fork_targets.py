"""What the forks of tests/workers.py run. Importing this module loads the service, once for all forks."""

import atexit
import gc
import os
import runpy
import sys
from collections.abc import Mapping
from pathlib import Path

import django
from celery.bin import celery  # noqa: F401 - so that a fork need not import the modules of a worker
from django.apps import apps

if not apps.ready:  # in the fork server; in a test, pytest-django has done it
    django.setup()

from django.conf import settings

from contacts_project.celery import app
from tests.reloaded_settings import reload_settings


def run_worker(log: Path, environment: Mapping[str, str], *options: str) -> None:
    """Run a Celery worker in this process."""
    _prepare_process(log, environment)
    app.worker_main(["--quiet", "worker", *options])


def run_command(log: Path, environment: Mapping[str, str], name: str, *options: str) -> None:
    """Run `manage.py NAME` in this process."""
    sys.argv = ["manage.py", name, *options]  # before the settings are loaded, which look at it
    _prepare_process(log, environment)
    runpy.run_path(str(settings.BASE_DIR / "manage.py"), run_name="__main__")


def run_module(log: Path, environment: Mapping[str, str], name: str, *options: str) -> None:
    """Run `python -m NAME OPTIONS` in this process."""
    _prepare_process(log, environment)
    sys.argv = [name, *options]
    try:
        runpy.run_module(name, run_name="__main__")
    finally:
        atexit._run_exitfuncs()  # a multiprocessing child ends by os._exit, which runs none of them


def enqueue_task(log: Path, environment: Mapping[str, str], task: str) -> None:
    """Run `celery call TASK` in this process."""
    _prepare_process(log, environment)
    app.send_task(task)


def enqueue_many(log: Path, environment: Mapping[str, str], task: str, number: str, *arguments: str) -> None:
    """Enqueue a task many times, with the same arguments."""
    _prepare_process(log, environment)
    for _ in range(int(number)):
        app.send_task(task, arguments)


def _prepare_process(log: Path, environment: Mapping[str, str]) -> None:
    """Redirect stdout and stderr to `log`, and load the settings again with `environment`."""
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.environ.update(environment)
    reload_settings("contacts_project.settings")
    gc.enable()  # contacts_project/settings.py has disabled it, for the start of a process
