"""Restoring: everything as it was, or nothing at all."""

import random
from io import StringIO
from pathlib import Path
from typing import Any

import orjson
import pytest
from cryptography.fernet import Fernet
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.db.migrations.recorder import MigrationRecorder

from accounts.models import User
from contacts_project.backup import container, restorer
from contacts_project.backup.container import Frame
from contacts_project.kernel.database.triggers import missing_triggers
from contacts_project.kernel.ownership.tombstones import Tombstone
from people.counts import wrong_counts
from people.models import Membership, Person
from tests.builders import make_user
from tests.client import Client, client_of
from tests.contacts_project.backup.conftest import Source
from tests.contacts_project.backup.files import (
    empty_the_database,
    frames_of,
    photos_of,
    rows_of,
    write_frames,
)
from tests.databases import flush
from tests.relationships.invariants import check_invariants

pytestmark = pytest.mark.django_db(transaction=True)


def restore(path: Path, *options: str) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command("restore", str(path), *options, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


@pytest.fixture
def path(small: Client, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of the small instance, beside which nothing lies."""
    return made_in(tmp_path_factory.mktemp("backups"))


def made_in(folder: Path) -> Path:
    call_command("backup", str(folder / "one"), stdout=StringIO())
    return folder / "one"


@pytest.fixture
def elsewhere(path: Path, tmp_path_factory: pytest.TempPathFactory, settings: Any) -> Path:
    """The database and the photos' folder are empty now, as on another machine; the folder."""
    settings.MEDIA_ROOT = tmp_path_factory.mktemp("media")
    flush()
    return Path(settings.MEDIA_ROOT)


def emptied(folder: Path, settings: Any) -> Path:
    """As elsewhere, and what migrations write is written anew, under other ids."""
    settings.MEDIA_ROOT = folder
    empty_the_database()
    return folder


def is_untouched(folder: Path) -> bool:
    return not User.objects.exists() and not Person.unscoped.exists() and not list(folder.rglob("*.jpg"))


def test_every_row_is_as_it_was(source: Source, tmp_path_factory: pytest.TempPathFactory, settings: Any) -> None:
    path = made_in(tmp_path_factory.mktemp("backups"))
    before, photos = rows_of(path), photos_of(path)
    revisions = dict(User.objects.values_list("pk", "revision"))
    assert before["contacts_project_tombstone"]
    assert before["people_accountcount"]
    assert len([rows for rows in before.values() if rows]) > 30
    emptied(tmp_path_factory.mktemp("media"), settings)
    told, complaints = restore(path)
    assert told.startswith(f"{path} is restored: 2 accounts, ")
    assert complaints == ""
    assert all(user.revision > 2**40 for user in User.objects.all())  # nothing that was given out is given out again
    for key, revision in revisions.items():
        User.objects.filter(pk=key).update(revision=revision)
    again = path.with_name("again")
    call_command("backup", str(again), stdout=StringIO())
    assert rows_of(again) == before
    assert photos_of(again) == photos
    _goes_on_as_if_nothing_had_been()


def _goes_on_as_if_nothing_had_been() -> None:
    assert missing_triggers() == []
    for user in User.objects.all():
        check_invariants(user)
        assert wrong_counts(user.pk) == []
        client_of(user).ok("POST", "/api/people", {"name": "New"}, status=201)
        assert wrong_counts(user.pk) == []
    # New rows of tables with numbers for ids, which triggers and services make.
    owner = User.objects.get(email="alice@example.org")
    person = Person.objects.owned_by(owner).active().get(name="New")
    client_of(owner).ok("DELETE", f"/api/people/{person.pk}")
    client_of(owner).ok("DELETE", f"/api/people/{person.pk}/permanent")
    assert Tombstone.unscoped.rows().filter(record_id=person.pk).exists()
    mine, theirs = Membership.objects.owned_by(owner).first(), User.objects.exclude(pk=owner.pk).get()
    assert mine
    with pytest.raises(IntegrityError), transaction.atomic():
        Membership.unscoped.filter(pk=mine.pk).update(owner=theirs)


def test_a_filled_instance_is_refused(path: Path) -> None:
    with pytest.raises(CommandError, match="not empty"):
        restore(path)
    told, _ = restore(path, "--verify")
    assert told.startswith(f"{path} is whole: 1 account, ")


def test_one_account_is_enough_to_be_refused(path: Path, elsewhere: Path) -> None:
    make_user("somebody@example.org")
    with pytest.raises(CommandError, match="not empty"):
        restore(path)
    assert list(User.objects.values_list("email", flat=True)) == ["somebody@example.org"]
    assert not list(elsewhere.rglob("*.jpg"))


def test_who_registers_meanwhile_is_not_lost(path: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = restorer._store_photos

    def store(*args: Any) -> None:
        real(*args)
        make_user("somebody@example.org")

    monkeypatch.setattr(restorer, "_store_photos", store)
    with pytest.raises(CommandError, match="not empty"):
        restore(path)
    assert list(User.objects.values_list("email", flat=True)) == ["somebody@example.org"]


def test_an_instance_that_is_not_migrated_is_refused(path: Path, elsewhere: Path) -> None:
    last = MigrationRecorder(connection).migration_qs.filter(app="people").order_by("name").last()
    assert last
    last.delete()
    try:
        with pytest.raises(CommandError, match=r"run manage\.py migrate first"):
            restore(path)
        with pytest.raises(CommandError, match=r"run manage\.py migrate first"):
            call_command("backup", str(path.with_name("two")))
    finally:
        last.save(force_insert=True)


def test_a_damaged_file_changes_nothing(path: Path, elsewhere: Path) -> None:
    content, dice = path.read_bytes(), random.Random(3)
    damaged = path.with_name("damaged")
    for place in [dice.randrange(len(content)) for _ in range(15)]:
        damaged.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        for options in ([], ["--verify"]):
            with pytest.raises(CommandError) as refusal:
                restore(damaged, *options)
            assert "\n" not in str(refusal.value)
            assert is_untouched(elsewhere)
    for length in (0, 100, len(content) // 2, len(content) - 1):
        damaged.write_bytes(content[:length])
        with pytest.raises(CommandError):
            restore(damaged)
        assert is_untouched(elsewhere)
    with pytest.raises(CommandError, match="No such file"):
        restore(path.with_name("nothing"))


def test_the_key_of_the_file_is_needed(path: Path, elsewhere: Path, settings: Any) -> None:
    key = Fernet.generate_key().decode()
    sealed = write_frames(path.with_name("sealed"), frames_of(path), key)
    with pytest.raises(CommandError, match="set BACKUP_KEY"):
        restore(sealed)
    settings.BACKUP_KEY = Fernet.generate_key().decode()
    with pytest.raises(CommandError, match="cannot decrypt this file"):
        restore(sealed, "--verify")
    assert is_untouched(elsewhere)
    settings.BACKUP_KEY = key
    restore(sealed)
    assert User.objects.count() == 1


def test_the_keys_of_stored_secrets_are_needed(path: Path, elsewhere: Path, settings: Any) -> None:
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    for options in ([], ["--verify"]):
        with pytest.raises(CommandError, match="encrypted with a key that is not in ENCRYPTION_KEYS"):
            restore(path, *options)
    assert is_untouched(elsewhere)


def test_another_secret_key_is_told(path: Path, elsewhere: Path, settings: Any) -> None:
    settings.SECRET_KEY = "another"
    _, complaints = restore(path)
    assert complaints.startswith("WARNING  SECRET_KEY is not that of the backup")


def changed(path: Path, **kinds: Any) -> Path:
    """A well-formed file whose frames of a kind were put through a function."""
    frames = [Frame(frame.kind, kinds.get(frame.kind.decode(), bytes)(frame.data)) for frame in frames_of(path)]
    return write_frames(path.with_name("changed"), frames)


def test_a_newer_version_is_refused(path: Path, elsewhere: Path) -> None:
    def newer(data: bytes) -> bytes:
        header = orjson.loads(data)
        return orjson.dumps({**header, "version": "9.0", "migrations": [*header["migrations"], "people.0999_more"]})

    for options in ([], ["--verify"]):
        with pytest.raises(CommandError, match=r"newer version \(9\.0\): this one does not know people\.0999_more"):
            restore(changed(path, H=newer), *options)
    assert is_untouched(elsewhere)


def test_a_photo_goes_nowhere_else(path: Path, elsewhere: Path) -> None:
    for name in (b"../../../../tmp/x.jpg", b"/etc/x", b"a" * 40 + b"-" + b"0" * 32 + b".jpg", b"", b"x\0"):
        with pytest.raises(CommandError, match="a photo is not what its name says"):
            restore(changed(path, P=lambda data, name=name: name + b"\nbytes"))
    assert is_untouched(elsewhere)
    assert not default_storage.exists("photos")


def test_a_table_is_one_of_ours(path: Path, elsewhere: Path) -> None:
    tables: list[Any] = [
        {"name": 'people_person"; DROP TABLE people_person; --', "columns": [["id", "uuid"]]},
        {"name": "people_person", "columns": [['id") SELECT 1; --', "uuid"]]},
        {"name": "people_person", "columns": [["id", "magic"]]},
        {"name": "people_person"},
        [],
        None,
    ]
    for table in tables:
        with pytest.raises(CommandError, match="damaged"):
            restore(changed(path, T=lambda data, table=table: orjson.dumps(table)))
    assert is_untouched(elsewhere)


def rewritten(path: Path, table: str, rows: bytes, number: int) -> Path:
    """A well-formed file with these rows in the table."""
    frames, inside = [], False
    for frame in frames_of(path):
        if frame.kind == container.TABLE:
            inside = orjson.loads(frame.data)["name"] == table
        if inside and frame.kind == container.ROWS:
            continue
        if inside and frame.kind == container.TABLE_END:
            frames += [Frame(container.ROWS, rows[at : at + 1000]) for at in range(0, len(rows), 1000)]
            frames.append(Frame(container.TABLE_END, str(number).encode()))
        elif frame.kind == container.END:
            totals = orjson.loads(frame.data)
            totals["rows"][table] = number
            frames.append(Frame(container.END, orjson.dumps(totals)))
        else:
            frames.append(frame)
    return write_frames(path.with_name("rewritten"), frames)


def test_rows_that_the_database_refuses_change_nothing(path: Path, elsewhere: Path) -> None:
    rows: list[list[Any]] = [
        ["not a number", "mail", "x@example.org"],
        ["019", None, {}],
        [[], [], []],
        [1, "00000000-0000-7000-8000-000000000000", "people", "", 5],  # of an account that is not there
    ]
    for row in rows:
        file = rewritten(path, "people_accountcount", orjson.dumps(row) + b"\n", 1)
        with pytest.raises(CommandError) as refusal:
            restore(file)
        assert "\n" not in str(refusal.value)
        assert not User.objects.exists()
        assert missing_triggers() == []
    restore(path)


def test_counts_have_to_agree(path: Path, elsewhere: Path) -> None:
    with pytest.raises(CommandError, match="rows of people_accountcount are missing"):
        restore(rewritten(path, "people_accountcount", b"", 3))
    with pytest.raises(CommandError, match="not hold as much as its end says"):
        restore(changed(path, Z=lambda data: data.replace(b'"photos":', b'"photos":1')))
    assert is_untouched(elsewhere)


def test_a_huge_row_comes_through(path: Path, elsewhere: Path, settings: Any) -> None:
    owner = make_user("big@example.org")
    notes = "ü" * 3_000_000
    person = client_of(owner).ok("POST", "/api/people", {"name": "Big"}, status=201)["person"]["id"]
    Person.unscoped.rows().filter(pk=person).update_quietly(notes=notes)
    big = path.with_name("big")
    call_command("backup", str(big), stdout=StringIO())
    flush()
    restore(big)
    assert Person.unscoped.get(pk=person).notes == notes


def test_a_row_without_an_end_is_refused(path: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contacts_project.backup.reader.MAX_ROW_BYTES", 100_000)
    with pytest.raises(CommandError, match="have no end"):
        restore(rewritten(path, "people_accountcount", b"[" * 300_000, 1))
    assert is_untouched(elsewhere)
