"""`python -m tests.clients`: generates the code of both clients from the current API description."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()

from django.test.utils import setup_test_environment  # noqa: E402 - Django first

setup_test_environment()  # the description is asked for under a host that only tests have

from tests.clients.generator import generate_python, generate_typescript  # noqa: E402 - Django first

generate_typescript()
generate_python()
