"""`python -m tests.clients`: generates both clients from the code as it stands."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()

from tests.clients.generator import generate_python, generate_typescript  # noqa: E402 - Django first

generate_typescript()
generate_python()
