"""`manage.py backup` writes a private, complete file with a consistent state, or no file."""

import os
import signal
import stat
import threading
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.apps import apps
from django.conf import settings as project
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.db import connections

from accounts.models import AccountSession, User
from contacts_project.backup import writer
from contacts_project.backup.rows import open_snapshot
from contacts_project.backup.tables import EXCLUDED_MODELS, data_models, data_tables
from people.models import Person
from people.photos.files import put_photo, read_photo
from people.photos.names import photo_hash
from tests.builders import make_user
from tests.client import Client, client_of
from tests.contacts_project.backup.conftest import FullInstance
from tests.contacts_project.backup.files import frames_of, photos_of, rows_of
from tests.pictures import picture, upload
from tests.rounds import rounds
from tests.workers import run_manage


def backup(path: Path) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command("backup", str(path), stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_every_model_is_backed_up_or_excluded() -> None:
    labels = {model._meta.label for model in data_models()}
    assert labels.isdisjoint(EXCLUDED_MODELS)
    every = {model._meta.label for model in apps.get_models(include_auto_created=True)}
    assert {label for label in every if not label.startswith("tests.")} == labels | EXCLUDED_MODELS.keys()
    assert {table.name for table in data_tables()} == {model._meta.db_table for model in data_models()}


def test_backup_file_is_private_and_its_contents_are_reported(small_account: Client, tmp_path: Path) -> None:
    path = tmp_path / "one"
    report, warnings = backup(path)
    assert report.startswith(f"{path}: 1 account, 1 person, ")
    assert report.endswith(", not encrypted.\n")
    assert warnings == ""
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not list(tmp_path.glob(".*"))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["file", "folder", "dangling link"])
def test_existing_file_is_not_overwritten(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "one"
    if kind == "file":
        path.write_text("mine")
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(tmp_path / "nothing")
    with pytest.raises(CommandError, match="already exists"):
        backup(path)
    assert kind != "file" or path.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.django_db(transaction=True)
def test_file_created_during_the_backup_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, real = tmp_path / "one", writer.write_rows

    def write_rows(*args: Any) -> None:
        real(*args)
        path.write_text("somebody else's")

    monkeypatch.setattr(writer, "write_rows", write_rows)
    with pytest.raises(CommandError, match="already exists"):
        backup(path)
    assert path.read_text() == "somebody else's"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.django_db(transaction=True)
def test_full_disk_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fsync(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(CommandError, match=r"cannot be written: No space left on device\. There is no backup\."):
        backup(tmp_path / "one")
    assert not list(tmp_path.iterdir())


@pytest.mark.django_db(transaction=True)
def test_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be written: No such file"):
        backup(tmp_path / "nowhere" / "one")


def test_killed_backup_leaves_no_file_under_its_name(small_account: Client, tmp_path: Path) -> None:
    program = (
        "import os, signal; from pathlib import Path\n"
        "from contacts_project.backup import writer, container\n"
        "real = container.FrameWriter.write\n"
        "def write(self, kind, data):\n"
        "    real(self, kind, data)\n"
        "    if kind == container.END: self._file.flush(); os.kill(os.getpid(), signal.SIGKILL)\n"
        "container.FrameWriter.write = write\n"
        f"writer.write_backup(Path({str(tmp_path / 'one')!r}), key='')\n"
    )
    exit_code, output = run_manage(
        tmp_path, {"DATA_DIR": str(project.MEDIA_ROOT / "data")}, "shell", "--no-imports", "-c", program
    )
    assert exit_code == -signal.SIGKILL, output
    assert not (tmp_path / "one").exists()
    backup(tmp_path / "one")


def test_backup_contains_no_keys_and_no_sessions(full_instance: FullInstance, tmp_path: Path) -> None:
    backup(tmp_path / "one")
    content = b"".join(frame.data for frame in frames_of(tmp_path / "one"))
    secrets = [
        project.SECRET_KEY,
        *project.ENCRYPTION_KEYS,
        *AccountSession.unscoped.exclude(session_key__contains="-").values_list("session_key", flat=True),
    ]
    secrets += [full_instance.token, *full_instance.recovery_codes]
    assert len(secrets) > 4
    for secret in secrets:
        assert secret.encode() not in content, secret
    assert b"alice@example.org" in content


def test_encrypted_backup_has_the_same_contents_and_no_plain_text(
    small_account: Client, tmp_path: Path, settings: Any
) -> None:
    settings.BACKUP_KEY = Fernet.generate_key().decode()
    report, _ = backup(tmp_path / "one")
    assert report.endswith(", encrypted.\n")
    assert b"alice" not in (tmp_path / "one").read_bytes()
    settings.BACKUP_KEY, key = "", settings.BACKUP_KEY
    backup(tmp_path / "two")
    assert rows_of(tmp_path / "one", key) == rows_of(tmp_path / "two")
    assert photos_of(tmp_path / "one", key) == photos_of(tmp_path / "two")


def test_missing_and_damaged_photos_are_reported(small_account: Client, tmp_path: Path) -> None:
    add_photos(small_account, "blue", "green")
    named = {str(name) for name in Person.unscoped.rows().values_list("photo", flat=True)}
    gone, changed = sorted(named)[:2]
    default_storage.delete(f"photos/{gone[:2]}/{gone}")
    put_photo(changed, b"another picture")
    _, warnings = backup(tmp_path / "one")
    assert warnings == "WARNING  2 photos are missing or damaged: the backup does not contain them.\n"
    assert photos_of(tmp_path / "one").keys() == named - {gone, changed}


def test_photo_replaced_during_the_backup_causes_a_second_pass(
    small_account: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old file is deleted after the backup has begun to read photos and before it reads this one."""
    person = Person.unscoped.get()
    add_photos(small_account, "blue")
    others = Person.unscoped.exclude(pk=person.pk).exclude(photo=None)
    replaced: list[str] = []
    rounds: list[Any] = []

    def read(name: str) -> bytes | None:
        if not replaced:
            replaced.append(str(Person.unscoped.get(pk=person.pk).photo))
            run_in_thread(lambda: upload(small_account, f"/api/people/{person.pk}/photo", picture(color="green")))
            assert read_photo(replaced[0]) is None
        return read_photo(name)

    def open_round() -> Any:
        rounds.append(open_snapshot())
        return rounds[-1]

    monkeypatch.setattr(writer, "read_photo", read)
    monkeypatch.setattr(writer, "open_snapshot", open_round)
    _, warnings = backup(tmp_path / "one")
    assert warnings == ""
    assert len(rounds) == 2
    new = Person.unscoped.get(pk=person.pk).photo
    assert new in photos_of(tmp_path / "one")
    assert replaced[0] not in photos_of(tmp_path / "one")
    assert set(others.values_list("photo", flat=True)) <= photos_of(tmp_path / "one").keys()


def add_photos(client: Client, *colors: str) -> None:
    """Create people with a photo each."""
    for color in colors:
        person = client.ok("POST", "/api/people", {"name": color}, status=201)["person"]["id"]
        assert upload(client, f"/api/people/{person}/photo", picture(color=color)).status_code == 200


def run_in_thread(call: Any) -> None:
    def run() -> None:
        try:
            call()
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


BACKUP_COUNT = rounds(2)


@pytest.mark.django_db(transaction=True)
def test_backup_is_consistent_while_others_write(media: Path, tmp_path: Path) -> None:
    """In each backup, every account has complete pairs of relationships, correct counts and all photos."""
    stop, written = threading.Event(), threading.Event()
    owners = [make_user(f"writer-{number}@example.org") for number in range(2)]
    threads = [threading.Thread(target=write_until_stopped, args=(owner, stop, written)) for owner in owners]
    for thread in threads:
        thread.start()
    try:
        for number in range(BACKUP_COUNT):
            # Each writer may still set what it wrote before the last backup: one more has written since.
            for _ in range(len(threads) + 1):
                written.clear()
                assert written.wait(60)
            _, warnings = backup(tmp_path / str(number))
            assert warnings == ""
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    people = [check_consistent(tmp_path / str(number)) for number in range(BACKUP_COUNT)]
    assert people == sorted(people)
    assert people[0] < people[-1]


def write_until_stopped(owner: User, stop: threading.Event, written: threading.Event) -> None:
    client = client_of(owner)
    try:
        kind = client.ok("GET", "/api/relationship-types")["relationshipTypes"][0]["id"]
        first = client.ok("POST", "/api/people", {"name": "First"}, status=201)["person"]["id"]
        number = 0
        while not stop.is_set():
            number += 1
            person = client.ok("POST", "/api/people", {"name": f"P{number}"}, status=201)["person"]["id"]
            body = {"personId": person, "relatedPersonId": first, "relationshipTypeId": kind}
            client.ok("POST", "/api/relationships", body)
            upload(client, f"/api/people/{first}/photo", picture(color=(number % 256, number // 256, 3)))
            written.set()
    finally:
        connections.close_all()


def check_consistent(path: Path) -> int:
    """Check that the backup is consistent; returns its number of people."""
    columns = {table.name: [column.name for column in table.columns] for table in data_tables()}
    rows = {
        table: [dict(zip(columns[table], row, strict=True)) for row in found] for table, found in rows_of(path).items()
    }
    relationships = {row["id"]: row for row in rows["relationships_relationship"]}
    for row in relationships.values():
        assert relationships[row["inverse_id"]]["inverse_id"] == row["id"]
    counts = {(row["owner_id"], row["kind"]): row["number"] for row in rows["people_accountcount"]}
    photos = photos_of(path)
    assert all(photo_hash(name) for name in photos)
    for user in rows["accounts_user"]:
        people = [row for row in rows["people_person"] if row["owner_id"] == user["id"]]
        assert counts.get((user["id"], "people"), 0) == len(people)
        assert all(row["revision"] <= user["revision"] for row in people)
        assert {row["photo"] for row in people if row["photo"]} <= photos.keys()
    return len(rows["people_person"])
