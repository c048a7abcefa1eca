"""A new person is inserted without a temporary file."""

from pathlib import Path

import pytest
from django.db import connection

from accounts.models import User
from contacts_project.kernel.database.small_statements import small_statements
from contacts_project.kernel.ownership.account_lock import account_write
from people.models import Person
from tests.builders import make_person

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL is another process"),
]


def bytes_written() -> int:
    """By this process, to files and sockets."""
    found = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(found["wchar"])


def bytes_of_insert(owner: User) -> int:
    """Before the commit, which writes the log."""
    with account_write(owner):
        before = bytes_written()
        Person.objects.bulk_create([Person(owner=owner, name="Ada")])
        return bytes_written() - before


def test_a_new_person_needs_no_temporary_file(alice: User) -> None:
    make_person(alice, name="Bea")
    assert bytes_of_insert(alice) > 64 * 1024
    with small_statements():
        assert bytes_of_insert(alice) == 0
    assert bytes_of_insert(alice) > 64 * 1024


def test_it_ends_with_an_error(alice: User) -> None:
    with pytest.raises(KeyError), small_statements(), account_write(alice):
        raise KeyError
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA temp_store")
        assert cursor.fetchall() == [(0,)]
