"""CSV import of 10,000 rows: the first run, a repeated one, a dry run, and the undo.

`python -m tests.bench.imports` measures the memory that 5,000, 20,000 and 50,000 rows take.
"""

import gc
import io
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

from tests.bench.figures import Figure, SharedData

ROWS = 10_000
ROWS_OF_MEMORY = (5_000, 20_000, 50_000)


def table_of(rows: int) -> bytes:
    """A CSV file like that of a spreadsheet: two numbers, an address, a birthday, a group and a note per row."""
    header = "First Name,Last Name,Email,Home Phone,Mobile,Street,City,Zip,Country,Birthday,Company,Group,Notes\n"
    lines = (
        f"Given{n},Surname{n},p{n}@example.org,+4930{n:08d},+4915{n:08d},Long Street {n},Berlin,12345,DE,"
        f"1980-01-02,Company {n % 50},Group {n % 5},Note {n}\n"
        for n in range(rows)
    )
    return (header + "".join(lines)).encode()


def bench_imports(shared: SharedData) -> list[Figure]:
    from django.utils import timezone

    from people.importing.runs import FileImport, ImportFile
    from people.importing.undo import undo_import
    from tests.builders import make_user

    owner, data = make_user("imports-bench@example.org"), table_of(ROWS)

    def run(*, is_dry: bool = False) -> FileImport:
        upload = ImportFile(source="csv", file=io.BytesIO(data), name="bench.csv")
        run = FileImport(owner=owner, upload=upload, now=timezone.now(), is_dry=is_dry)
        for _ in run.run():
            pass
        return run

    made: list[FileImport] = []
    return [
        measure_once(f"CSV: dry run of {ROWS:,} rows", lambda: run(is_dry=True)),
        measure_once(f"CSV: import {ROWS:,} rows", lambda: made.append(run())),
        measure_once(f"CSV: import the same {ROWS:,} again", run),
        measure_once(
            f"CSV: undo the import of {ROWS:,} rows",
            lambda: undo_import(owner=owner, import_id=made[0].import_id or UUID(int=0), now=timezone.now()),
        ),
    ]


def measure_once(name: str, work: Callable[[], Any]) -> Figure:
    """Measure the CPU time of a single run, because a second one would find everybody present."""
    start = time.process_time()
    work()
    seconds = time.process_time() - start
    return Figure(name, seconds, note=f"{ROWS / seconds:,.0f} rows/s")


BENCHES = [("imports", bench_imports)]


def main() -> None:
    """Print how much memory an import adds to its process, with a SQLite file or the database of DATABASE_URL.

    SQLite maps its file into memory. The system can drop these pages, so they are reported separately.
    """
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"DATA_DIR": folder, "DJANGO_SETTINGS_MODULE": "contacts_project.settings"}
        import django

        django.setup()
        from django.core.management import call_command

        from people.importing.sources import tables

        tables.MAX_ROWS = 50_000
        call_command("migrate", verbosity=0)
        measure_memory(1_000)  # loads and compiles what is needed once
        for rows in ROWS_OF_MEMORY:
            dry, real = measure_memory(rows, is_dry=True), measure_memory(rows)
            print(f"{rows:,} rows: dry run {dry}; import {real}", flush=True)


def measure_memory(rows: int, *, is_dry: bool = False) -> str:
    from django.utils import timezone

    from contacts_project.kernel.json import dumps
    from people.importing.runs import FileImport, ImportFile
    from tests.builders import make_user

    owner, data = make_user(f"memory-{rows}-{is_dry}@example.org"), table_of(rows)
    gc.collect()
    own, mapped = memory_megabytes()
    most = own
    upload = ImportFile(source="csv", file=io.BytesIO(data), name="bench.csv")
    run = FileImport(owner=owner, upload=upload, now=timezone.now(), is_dry=is_dry)
    for number, _ in enumerate(run.run()):
        if number % 100 == 0:
            most = max(most, memory_megabytes()[0])
    response = dumps(run.receipt())
    most = max(most, memory_megabytes()[0])
    mapped = memory_megabytes()[1] - mapped
    return f"+{most - own} MB, +{mapped} MB of mapped files, a receipt of {len(response) >> 10:,} KiB"


def memory_megabytes() -> tuple[int, int]:
    """The private memory of this process and that of mapped files, in MB (on Linux)."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    own, mapped = (int(status[name].split()[0]) // 1024 for name in ("RssAnon", "RssFile"))
    return own, mapped


if __name__ == "__main__":
    main()
