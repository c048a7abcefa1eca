"""`manage.py restore` restores everything, or changes nothing."""

import random
from io import StringIO
from itertools import cycle
from pathlib import Path
from typing import Any

import orjson
import pytest
from cryptography.fernet import Fernet
from django.conf import settings as project
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.db.migrations.recorder import MigrationRecorder

from accounts.models import User
from contacts_project.backup import container, restorer
from contacts_project.backup.container import Frame
from contacts_project.kernel.database.triggers import missing_triggers
from contacts_project.kernel.ownership.models import Tombstone
from people.counts import wrong_counts
from people.models import Membership, Person
from tests.builders import make_user
from tests.client import Client, client_of
from tests.contacts_project.backup.conftest import FullInstance
from tests.contacts_project.backup.files import empty_database_and_migrate, frames_of, photos_of, rows_of, write_frames
from tests.databases import flush, on_empty_database
from tests.relationships.invariants import check_invariants
from tests.workers import run_manage

pytestmark = pytest.mark.django_db(transaction=True)


def restore(path: Path, *options: str) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command("restore", str(path), *options, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


@pytest.fixture
def path(small_account: Client, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of the small instance, in a folder of its own."""
    return make_backup(tmp_path_factory.mktemp("backups"))


def make_backup(folder: Path) -> Path:
    call_command("backup", str(folder / "one"), stdout=StringIO())
    return folder / "one"


@pytest.fixture
def other_instance(path: Path, tmp_path_factory: pytest.TempPathFactory, settings: Any) -> Path:
    """Empty the database and the folder of photos, as on another machine; returns the folder."""
    settings.MEDIA_ROOT = tmp_path_factory.mktemp("media")
    flush()
    return Path(settings.MEDIA_ROOT)


def empty_into(folder: Path, settings: Any) -> Path:
    """Like `other_instance`, and create the rows of migrations again, with new ids."""
    settings.MEDIA_ROOT = folder
    empty_database_and_migrate()
    return folder


def is_empty(folder: Path) -> bool:
    return not User.objects.exists() and not Person.unscoped.exists() and not list(folder.rglob("*.jpg"))


def test_restore_brings_back_every_row(
    full_instance: FullInstance, tmp_path_factory: pytest.TempPathFactory, settings: Any
) -> None:
    path = make_backup(tmp_path_factory.mktemp("backups"))
    before, photos = rows_of(path), photos_of(path)
    revisions = dict(User.objects.values_list("pk", "revision"))
    assert before["contacts_project_tombstone"]
    assert before["people_accountcount"]
    assert len([rows for rows in before.values() if rows]) > 30
    empty_into(tmp_path_factory.mktemp("media"), settings)
    output, warnings = restore(path)
    assert output.startswith(f"{path} is restored: 2 accounts, ")
    assert warnings == ""
    assert all(
        user.revision > 2**40 for user in User.objects.all()
    )  # no revision that a client has seen is assigned again
    for key, revision in revisions.items():
        User.objects.filter(pk=key).update(revision=revision)
    again = path.with_name("again")
    call_command("backup", str(again), stdout=StringIO())
    assert rows_of(again) == before
    assert photos_of(again) == photos
    check_instance_works()


def check_instance_works() -> None:
    assert missing_triggers() == []
    for user in User.objects.all():
        check_invariants(user)
        assert wrong_counts(user.pk) == []
        client_of(user).ok("POST", "/api/people", {"name": "New"}, status=201)
        assert wrong_counts(user.pk) == []
    # Triggers and services insert rows into tables with integer ids: the sequences must be right.
    owner = User.objects.get(email="alice@example.org")
    person = Person.objects.owned_by(owner).active().get(name="New")
    client_of(owner).ok("DELETE", f"/api/people/{person.pk}")
    client_of(owner).ok("DELETE", f"/api/people/{person.pk}/permanent")
    assert Tombstone.unscoped.rows().filter(record_id=person.pk).exists()
    mine, theirs = Membership.objects.owned_by(owner).first(), User.objects.exclude(pk=owner.pk).get()
    assert mine
    with pytest.raises(IntegrityError), transaction.atomic():
        Membership.unscoped.filter(pk=mine.pk).update(owner=theirs)


def test_restore_into_an_instance_with_data_is_refused(path: Path) -> None:
    with pytest.raises(CommandError, match="not empty"):
        restore(path)
    output, _ = restore(path, "--verify")
    assert output.startswith(f"{path} is whole: 1 account, ")


def test_restore_into_an_instance_with_one_account_is_refused(path: Path, other_instance: Path) -> None:
    make_user("somebody@example.org")
    with pytest.raises(CommandError, match="not empty"):
        restore(path)
    assert list(User.objects.values_list("email", flat=True)) == ["somebody@example.org"]
    assert not list(other_instance.rglob("*.jpg"))


def test_account_registered_during_a_restore_is_kept(
    path: Path, other_instance: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = restorer._store_photos

    def store(*args: Any) -> None:
        real(*args)
        make_user("somebody@example.org")

    monkeypatch.setattr(restorer, "_store_photos", store)
    with pytest.raises(CommandError, match="not empty"):
        restore(path)
    assert list(User.objects.values_list("email", flat=True)) == ["somebody@example.org"]


def test_instance_with_unapplied_migrations_is_not_backed_up(path: Path) -> None:
    last = MigrationRecorder(connection).migration_qs.filter(app="people").order_by("name").last()
    assert last
    last.delete()
    try:
        with pytest.raises(CommandError, match=r"run manage\.py migrate first"):
            call_command("backup", str(path.with_name("two")))
    finally:
        last.save(force_insert=True)


def test_restore_creates_the_tables_of_an_empty_database(
    path: Path, tmp_path_factory: pytest.TempPathFactory, settings: Any
) -> None:
    before = rows_of(path, with_revisions=False)
    settings.MEDIA_ROOT = tmp_path_factory.mktemp("media")
    with on_empty_database(settings.MEDIA_ROOT):
        restore(path, "--verify")
        assert connection.introspection.table_names() == []
        restore(path)
        assert missing_triggers() == []
        again = path.with_name("again")
        call_command("backup", str(again), stdout=StringIO())
        with pytest.raises(CommandError, match="not empty"):
            restore(path)
    assert rows_of(again, with_revisions=False) == before


@pytest.mark.one_database
@pytest.mark.parametrize("options", [[], ["--verify"]])
def test_what_is_wrong_with_the_file_is_said_before_the_database_is_touched(
    path: Path, tmp_path: Path, options: list[str]
) -> None:
    """Here no database answers. Each fault is one line, with an exit status other than 0."""
    content = path.read_bytes()
    cut, changed = path.with_name("cut"), path.with_name("changed")
    cut.write_bytes(content[: len(content) // 2])
    changed.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
    data = tmp_path / "data"
    environment = {
        "DATA_DIR": str(data),
        "DATABASE_URL": "postgres://me:s3cret@127.0.0.1:1/contacts",
        "ENCRYPTION_KEYS": ",".join(project.ENCRYPTION_KEYS),
        "SECRET_KEY": project.SECRET_KEY,
    }
    expected = {
        path.with_name("missing"): "No such file or directory",
        path.parent: "Is a directory",
        cut: "its end is missing",
        changed: "The file is damaged",
    }
    for file, reason in expected.items():
        exit_code, output = run_manage(tmp_path, environment, "restore", str(file), *options)
        assert exit_code == 1
        assert reason in output
        assert output.count("\n") == 1
        assert not list(data.rglob("*.jpg"))
    exit_code, output = run_manage(tmp_path, environment, "restore", str(path), *options)
    assert output.count("\n") == 1
    assert (exit_code, "is whole" in output) == ((0, True) if options else (1, False))
    assert "s3cret" not in output


@pytest.mark.one_database
def test_restore_fills_a_new_data_folder(path: Path, tmp_path: Path) -> None:
    environment = {
        "DATA_DIR": str(tmp_path / "new" / "data"),
        "DATABASE_URL": "",
        "ENCRYPTION_KEYS": ",".join(project.ENCRYPTION_KEYS),
        "SECRET_KEY": project.SECRET_KEY,
    }
    exit_code, output = run_manage(tmp_path, environment, "restore", str(path))
    assert (exit_code, output.count("\n")) == (0, 1), output
    assert " is restored: 1 account, 1 person, " in output
    assert len(list((tmp_path / "new" / "data" / "media").rglob("*.jpg"))) == 1
    exit_code, output = run_manage(tmp_path, environment, "restore", str(path))
    assert (exit_code, output.count("\n")) == (1, 1), output
    assert "not empty" in output


def test_with_a_key_a_plain_file_needs_plain(path: Path, other_instance: Path, settings: Any) -> None:
    """Whoever can write the folder of backups could write one in which everybody is a superuser."""
    settings.BACKUP_KEY = Fernet.generate_key().decode()
    for options in ([], ["--verify"]):
        with pytest.raises(CommandError, match=r"not encrypted, although BACKUP_KEY is set.* add --plain") as refusal:
            restore(path, *options)
        assert "\n" not in str(refusal.value)
        assert is_empty(other_instance)
    assert restore(path, "--verify", "--plain")[0].startswith(f"{path} is whole")
    restore(path, "--plain")
    assert User.objects.count() == 1


def test_plain_option_reads_encrypted_files_as_well(path: Path, other_instance: Path, settings: Any) -> None:
    settings.BACKUP_KEY = Fernet.generate_key().decode()
    sealed = write_frames(path.with_name("sealed"), frames_of(path), settings.BACKUP_KEY)
    changed = path.with_name("changed")
    changed.write_bytes(sealed.read_bytes().replace(b" encrypted ", b" plain ", 1))
    with pytest.raises(CommandError, match="damaged"):
        restore(changed, "--plain")
    restore(sealed, "--plain")
    assert User.objects.count() == 1


def test_damaged_file_changes_nothing(path: Path, other_instance: Path) -> None:
    content, generator = path.read_bytes(), random.Random(3)
    damaged = path.with_name("damaged")
    for place, options in zip([generator.randrange(len(content)) for _ in range(16)], cycle(([], ["--verify"]))):
        damaged.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        with pytest.raises(CommandError) as refusal:
            restore(damaged, *options)
        assert "\n" not in str(refusal.value)
        assert is_empty(other_instance)
    for length in (0, 100, len(content) // 2, len(content) - 1):
        damaged.write_bytes(content[:length])
        with pytest.raises(CommandError):
            restore(damaged)
        assert is_empty(other_instance)
    with pytest.raises(CommandError, match="No such file"):
        restore(path.with_name("nothing"))


def test_encrypted_backup_needs_its_key(path: Path, other_instance: Path, settings: Any) -> None:
    key = Fernet.generate_key().decode()
    sealed = write_frames(path.with_name("sealed"), frames_of(path), key)
    with pytest.raises(CommandError, match="set BACKUP_KEY"):
        restore(sealed)
    settings.BACKUP_KEY = Fernet.generate_key().decode()
    with pytest.raises(CommandError, match="cannot decrypt this file"):
        restore(sealed, "--verify")
    assert is_empty(other_instance)
    settings.BACKUP_KEY = key
    restore(sealed)
    assert User.objects.count() == 1


def test_keys_of_stored_secrets_are_required(path: Path, other_instance: Path, settings: Any) -> None:
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    for options in ([], ["--verify"]):
        with pytest.raises(CommandError, match="encrypted with a key that is not in ENCRYPTION_KEYS"):
            restore(path, *options)
    assert is_empty(other_instance)


def test_different_secret_key_is_a_warning(path: Path, other_instance: Path, settings: Any) -> None:
    settings.SECRET_KEY = "another"
    _, warnings = restore(path)
    assert warnings.startswith("WARNING  SECRET_KEY is not that of the backup")


def write_changed_backup(path: Path, **kinds: Any) -> Path:
    """Write a valid backup in which functions have changed some kinds of frames (`H=function`); returns its path."""
    frames = [Frame(frame.kind, kinds.get(frame.kind.decode(), bytes)(frame.data)) for frame in frames_of(path)]
    return write_frames(path.with_name("changed"), frames)


def test_backup_of_a_newer_version_is_refused(path: Path, other_instance: Path) -> None:
    def newer(data: bytes) -> bytes:
        header = orjson.loads(data)
        return orjson.dumps({**header, "version": "9.0", "migrations": [*header["migrations"], "people.0999_more"]})

    for options in ([], ["--verify"]):
        with pytest.raises(CommandError, match=r"newer version \(9\.0\): this one does not know people\.0999_more"):
            restore(write_changed_backup(path, H=newer), *options)
    assert is_empty(other_instance)


def test_photo_names_cannot_leave_the_photo_folder(path: Path, other_instance: Path) -> None:
    for name in (b"../../../../tmp/x.jpg", b"/etc/x", b"a" * 40 + b"-" + b"0" * 32 + b".jpg", b"", b"x\0"):
        with pytest.raises(CommandError, match="a photo is not what its name says"):
            restore(write_changed_backup(path, P=lambda data, name=name: name + b"\nbytes"))
    assert is_empty(other_instance)
    assert not default_storage.exists("photos")


def test_unknown_tables_and_columns_are_refused(path: Path, other_instance: Path) -> None:
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
            restore(write_changed_backup(path, T=lambda data, table=table: orjson.dumps(table)))
    assert is_empty(other_instance)


def write_backup_with_rows(path: Path, table: str, rows: bytes, number: int) -> Path:
    """Write a valid backup in which the table has these rows; returns its path."""
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


def test_rows_that_the_database_refuses_change_nothing(path: Path, other_instance: Path) -> None:
    rows: list[list[Any]] = [
        ["not a number", "mail", "x@example.org"],
        ["019", None, {}],
        [[], [], []],
        [1, "00000000-0000-7000-8000-000000000000", "people", "", 5],  # of an account that does not exist
    ]
    for row in rows:
        file = write_backup_with_rows(path, "people_accountcount", orjson.dumps(row) + b"\n", 1)
        with pytest.raises(CommandError) as refusal:
            restore(file)
        assert "\n" not in str(refusal.value)
        assert not User.objects.exists()
        assert missing_triggers() == []
    restore(path)


def test_wrong_totals_are_refused(path: Path, other_instance: Path) -> None:
    with pytest.raises(CommandError, match="rows of people_accountcount are missing"):
        restore(write_backup_with_rows(path, "people_accountcount", b"", 3))
    with pytest.raises(CommandError, match="not hold as much as its end says"):
        restore(write_changed_backup(path, Z=lambda data: data.replace(b'"photos":', b'"photos":1')))
    assert is_empty(other_instance)


def test_row_of_several_megabytes_is_restored(path: Path, other_instance: Path, settings: Any) -> None:
    owner = make_user("big@example.org")
    notes = "ü" * 3_000_000
    person = client_of(owner).ok("POST", "/api/people", {"name": "Big"}, status=201)["person"]["id"]
    Person._base_manager.filter(pk=person).update(notes=notes)
    big = path.with_name("big")
    call_command("backup", str(big), stdout=StringIO())
    flush()
    restore(big)
    assert Person.unscoped.get(pk=person).notes == notes


def test_row_without_an_end_is_refused(path: Path, other_instance: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contacts_project.backup.reader.MAX_ROW_BYTES", 100_000)
    with pytest.raises(CommandError, match="have no end"):
        restore(write_backup_with_rows(path, "people_accountcount", b"[" * 300_000, 1))
    assert is_empty(other_instance)
