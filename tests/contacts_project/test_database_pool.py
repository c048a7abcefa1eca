"""`?pool=` and `?pooler=` of DATABASE_URL, on a real PostgreSQL."""

from typing import Any

import pytest
from django.db import connection

from contacts_project.environment.kinds import DATABASE
from contacts_project.operation import figures
from contacts_project.operation.checks import check_connections, check_random_page_cost
from tests.workers import database_url, run_manage

URL = "postgres://user:secret@db:5432/contacts"


def test_pool_has_minimum_maximum_and_timeout() -> None:
    assert DATABASE.parse(f"{URL}?pool=4..20&sslmode=require")["OPTIONS"] == {
        "pool": {"min_size": 4, "max_size": 20, "timeout": 5},
        "sslmode": "require",
    }
    assert "pool" not in DATABASE.parse(URL).get("OPTIONS", {})


def test_server_side_cursors_are_disabled_with_a_transaction_pooler() -> None:
    assert DATABASE.parse(f"{URL}?pooler=transaction")["DISABLE_SERVER_SIDE_CURSORS"] is True


@pytest.mark.parametrize(
    "text",
    [
        *(f"{URL}?pool={size}" for size in ("", "4", "20..4", "0..0", "-1..3", "a..b", "4..20000")),
        f"{URL}?pooler=session",
        "sqlite:////tmp/file?pool=1..2",
        "sqlite:////tmp/file?pooler=transaction",
    ],
)
def test_invalid_pool_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        DATABASE.parse(text)


THREADS = """
import threading
from django.conf import settings
from django.core.signals import request_finished
from django.db import OperationalError, connection
from contacts_project.kernel.metrics import read_all
assert settings.DATABASES["default"]["CONN_MAX_AGE"] == 0
inside, told = threading.Barrier(3), []
leave = threading.Event()

def hold():
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        told.append(cursor.fetchone()[0])
        inside.wait(30)
        leave.wait(30)
    request_finished.send(None)

holders = [threading.Thread(target=hold) for _ in range(2)]
for thread in holders: thread.start()
inside.wait(30)
try:
    connection.ensure_connection()
except OperationalError:
    print("refused")
leave.set()
for thread in holders: thread.join()
with connection.cursor() as cursor:
    cursor.execute("SELECT pg_backend_pid()")
    print("again" if cursor.fetchone()[0] in told else "another")
connection.close()
print({sample.labels[0]: int(sample.values[0]) for sample in read_all()["contacts_database_pool_total"]})
"""


@pytest.mark.django_db(transaction=True)
def test_threads_share_the_pool_and_waiting_for_a_connection_times_out(tmp_path: Any) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no pool")
    url = database_url()
    environment = {"DATABASE_URL": f"{url}{'&' if '?' in url else '?'}pool=1..2", "DATA_DIR": str(tmp_path)}
    exit_code, output = run_manage(tmp_path, environment, "shell", "--no-imports", "-c", THREADS)
    assert exit_code == 0, output
    lines = output.splitlines()
    assert lines[:2] == ["refused", "again"]
    counts = eval(lines[2])
    assert counts["asked"] == 4
    assert counts["refused"] == 1


@pytest.mark.django_db
def test_connections_are_counted_and_reported_by_doctor() -> None:
    found, messages = figures.database_connections(), check_connections(None)
    if connection.vendor != "postgresql":
        assert not found
        assert not messages
        return
    assert found["active"] >= 1
    assert "connections of PostgreSQL are in use" in str(messages[0].msg)


@pytest.mark.django_db
@pytest.mark.parametrize(("price", "told"), [("4", 1), ("1.1", 0)])
def test_doctor_warns_about_a_high_random_page_cost(price: str, told: int) -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('random_page_cost', %s, true)", [price])
        assert len(check_random_page_cost(None)) == told
    else:
        assert not check_random_page_cost(None)
