"""What a process loads when it starts: each package takes every start time, and every process memory."""

import os
import subprocess
import sys

import pytest

from tests import ROOT

#: Of these a process loads what it uses, when it first uses it.
LAZY_MODULES = (
    "PIL",
    *("aiohttp", "authlib", "boto3", "dns.resolver", "icalendar", "jsonschema", "mcp", "opentelemetry", "pillow_heif"),
    *("prometheus_client", "psycopg", "py_vapid", "pydantic", "pywebpush", "redis", "starlette", "storages"),
    "contacts_project.tracing.spans",
)
#: Of these only a process that answers requests.
FOR_REQUESTS = ("django.test", "drf_spectacular.openapi", "people.api.urls")
PROGRAM = (
    "import sys, django, contacts_project.celery; django.setup(); print(*sys.modules);"
    "import contacts_project.wsgi; from django.urls import get_resolver; get_resolver().url_patterns;"
    "print(*sys.modules)"
)


def test_rarely_used_modules_are_not_loaded_at_start() -> None:
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "contacts_project.settings"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    worker, web = (line.split() for line in done.stdout.splitlines())
    assert {"contacts_project.tracing", "notifications.tasks"} <= set(worker)
    assert set(FOR_REQUESTS) & set(worker) == set()
    assert {"people.api.urls"} <= set(web)
    assert [name for name in web if f"{name}.".startswith(tuple(f"{package}." for package in LAZY_MODULES))] == []


@pytest.mark.parametrize("program", ["tests.soak", "tests.fuzz"])
def test_programs_that_test_an_instance_import_no_settings(program: str) -> None:
    """They start instances and never set up Django, so no module that they import may need its settings."""
    environment = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    command = [sys.executable, "-m", program, "--help"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
