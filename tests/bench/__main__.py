"""`make bench`: runs every benchmark on SQLite and PostgreSQL and prints a table for each.

python -m tests.bench [--db sqlite|postgresql] [words that names must contain]
"""

import argparse
import importlib
import os
import pkgutil
import subprocess
import sys

from tests.run import postgresql

HEADINGS = ["what", "time", "floor", "ratio", "queries", "note"]


def table(rows: list[list[str]]) -> str:
    """A Markdown table with aligned columns."""
    widths = [max(len(row[i]) for row in [HEADINGS, *rows]) for i in range(len(HEADINGS))]
    lines = [HEADINGS, ["-" * width for width in widths], *rows]
    return "\n".join(
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) + " |" for line in lines
    )


def run_in_this_process(database: str, words: list[str]) -> None:
    """Run in this process, whose environment names the database."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    import django

    django.setup()
    from django.test.utils import setup_databases, setup_test_environment, teardown_databases

    import tests.bench
    from tests.bench.figures import Figure, SharedData

    setup_test_environment()
    old = setup_databases(verbosity=0, interactive=False)
    shared, rows = SharedData(database), []
    try:
        for module in sorted(info.name for info in pkgutil.iter_modules(tests.bench.__path__)):
            for name, bench in getattr(importlib.import_module(f"tests.bench.{module}"), "BENCHES", []):
                if words and not any(word in name for word in words):
                    continue
                print(f"  {name} ...", file=sys.stderr, flush=True)
                found = bench(shared)
                rows += [figure.row() for figure in ([found] if isinstance(found, Figure) else found)]
    finally:
        teardown_databases(old, verbosity=0)
    print(f"\n### {database}\n\n{table(rows)}", flush=True)


def run_in_own_process(database: str, words: list[str]) -> int:
    """Run in a separate process, so that the run of one database does not affect that of the other."""
    command = [sys.executable, "-m", "tests.bench", "--here", database, *words]
    environment = {key: value for key, value in os.environ.items() if key != "TEST_DATABASE_URL"}
    if database == "sqlite":
        return subprocess.run(command, env=environment, check=False).returncode
    with postgresql() as url:
        return subprocess.run(command, env={**environment, "TEST_DATABASE_URL": url}, check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", choices=["sqlite", "postgresql"])
    parser.add_argument("--here", choices=["sqlite", "postgresql"], help=argparse.SUPPRESS)
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    if options.here:
        run_in_this_process(options.here, options.words)
        return 0
    databases = [options.db] if options.db else ["sqlite", "postgresql"]
    return max(run_in_own_process(database, options.words) for database in databases)


if __name__ == "__main__":
    sys.exit(main())
