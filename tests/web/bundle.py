"""`python -m tests.web.bundle` builds the client in the browser, as `make web` does."""

from pathlib import Path

from tests.npm import NODE, TYPESCRIPT, WEB, install_packages, run

BUILT = Path(__file__).parents[2] / "contacts_project/static/app"


def build(folder: Path = BUILT) -> str:
    """Build the client into `folder`. Vite ignores types; a test checks them."""
    install_packages(TYPESCRIPT)
    install_packages(WEB)
    return run([NODE, "node_modules/vite/bin/vite.js", "build", "--outDir", str(folder), "--logLevel", "warn"], WEB)


if __name__ == "__main__":
    build()
