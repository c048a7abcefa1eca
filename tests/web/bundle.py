"""`python -m tests.web.bundle` builds the client in the browser, as `make web` does."""

from pathlib import Path

from tests.npm import NODE, TYPESCRIPT, WEB, install_packages, run

BUILT = Path(__file__).parents[2] / "contacts_project/static/app"


def build(folder: Path = BUILT) -> str:
    """Build the client into `folder`. Types are checked by `check_types`, as Vite ignores them."""
    install_packages(TYPESCRIPT)
    install_packages(WEB)
    return run([NODE, "node_modules/vite/bin/vite.js", "build", "--outDir", str(folder), "--logLevel", "warn"], WEB)


def check_types() -> str:
    """Check the client's types with tsc; needs `schema.ts` of the kit (`make clients`)."""
    install_packages(WEB)
    tsc = [NODE, "node_modules/typescript/bin/tsc", "--noEmit", "--project"]
    return run([*tsc, "."], WEB) + run([*tsc, "src/sw"], WEB)


if __name__ == "__main__":
    build()
