"""Generates the code in clients/ from the API description."""

import fcntl
import sys
from pathlib import Path

from contacts_project.kernel.json import dumps
from tests.npm import CLIENTS, NODE, TYPESCRIPT, install_packages, run
from tests.routes.openapi import document

PYTHON = CLIENTS / "python"
ROUTES = PYTHON / "contacts_client/routes"


def generate_typescript() -> None:
    """Install the npm packages and generate the types of all routes with openapi-typescript.

    They are generated again only if the description has changed: several test processes need them, at any time.
    """
    install_packages(TYPESCRIPT)
    with (TYPESCRIPT / "package.json").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        described, schema = TYPESCRIPT / "openapi.json", TYPESCRIPT / "src/schema.ts"
        current = dumps(document())
        if schema.exists() and described.exists() and described.read_bytes() == current:
            return
        described.write_bytes(current)
        fresh = schema.with_suffix(".part")
        run([NODE, "node_modules/openapi-typescript/bin/cli.js", str(described), "--output", str(fresh)], TYPESCRIPT)
        fresh.rename(schema)


def generate_python() -> None:
    """Generate all routes with openapi-python-client; warnings, for example about skipped endpoints, are errors."""
    generator = str(Path(sys.executable).parent / "openapi-python-client")
    paths = ["--path", str(_document(PYTHON)), "--output-path", str(ROUTES)]
    run([generator, "generate", *paths, *_OPTIONS], PYTHON)
    run([sys.executable, "-m", "compileall", "-q", str(ROUTES)], PYTHON)


_OPTIONS = ["--config", "generator.yml", "--meta", "none", "--overwrite", "--fail-on-warning"]


def _document(folder: Path) -> Path:
    path = folder / "openapi.json"
    path.write_bytes(dumps(document()))
    return path
