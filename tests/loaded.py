"""The service, loaded: of what tests start often each process is a copy of one that has this module (tests.workers)."""

import atexit
import gc
import os
import runpy
import sys
from collections.abc import Mapping
from pathlib import Path

import django
from celery.bin import celery  # noqa: F401 - with what a worker loads
from django.apps import apps

if not apps.ready:  # as in a test that names one of these functions
    django.setup()

from django.conf import settings

from contacts_project.celery import app
from tests.reloaded_settings import reload_settings


def work(log: Path, environment: Mapping[str, str], *options: str) -> None:
    """Be a Celery worker."""
    _begin(log, environment)
    app.worker_main(["--quiet", "worker", *options])


def run_command(log: Path, environment: Mapping[str, str], name: str, *options: str) -> None:
    """Be `manage.py NAME`."""
    _begin(log, environment)
    sys.argv = ["manage.py", name, *options]
    runpy.run_path(str(settings.BASE_DIR / "manage.py"), run_name="__main__")


def run_module(log: Path, environment: Mapping[str, str], name: str) -> None:
    """Be `python -m NAME`."""
    _begin(log, environment)
    sys.argv = [name]
    try:
        runpy.run_module(name, run_name="__main__")
    finally:
        atexit._run_exitfuncs()  # without which a copy ends


def enqueue(log: Path, environment: Mapping[str, str], task: str) -> None:
    """Be `celery call TASK`."""
    _begin(log, environment)
    app.send_task(task)


def _begin(log: Path, environment: Mapping[str, str]) -> None:
    """What differs from copy to copy: where it writes, and its settings."""
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.environ.update(environment)
    reload_settings("contacts_project.settings")
    gc.enable()  # as after a start
