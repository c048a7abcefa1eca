"""`python -m tests.web.bundle` builds the client in the browser, as `make web` does."""

import os
from pathlib import Path

import django
from django.test.utils import setup_test_environment

from tests.clients.generator import generate_typescript
from tests.npm import NODE, WEB, install_packages, run

BUILT = Path(__file__).parents[2] / "contacts_project/static/app"


def build(folder: Path = BUILT) -> str:
    """Build the client into `folder`, with the fields of the current API description.

    Vite ignores types; a test checks them.
    """
    generate_typescript()
    install_packages(WEB)
    return run([NODE, "node_modules/vite/bin/vite.js", "build", "--outDir", str(folder), "--logLevel", "warn"], WEB)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    setup_test_environment()  # the description is asked for under a host that only tests have
    build()
