"""The daily purge removes every kind and its files, but nothing within the retention; run twice and killed."""

import datetime as dt
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.storage import PART_SUFFIX
from people import trash
from people.models import (
    CustomFieldTemplate,
    CustomFieldValue,
    Group,
    ImportantDate,
    Membership,
    Person,
    RelationshipType,
)
from people.tasks import purge_deleted as purge_task
from people.trash import PurgeJob, purge_deleted, purge_jobs, register_purge_job, trash_kinds
from tests.builders import make_person
from tests.client import Client
from tests.pictures import photo_files, picture, upload

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("media")]

NOW = dt.datetime(2026, 5, 4, 3, 17, tzinfo=dt.UTC)
EXPIRED, RETAINED = NOW - dt.timedelta(days=30, seconds=1), NOW - dt.timedelta(days=29, hours=23)


def make_group(owner: User, name: str, deleted_at: dt.datetime | None) -> Group:
    return Group.objects.create(owner=owner, name=name, name_key=name, color="#000000", deleted_at=deleted_at)


def test_purge_removes_records_after_the_retention(api: Client, alice: User, mallory: User) -> None:
    ada = make_person(alice, name="Ada")
    for owner in (alice, mallory):
        for deleted_at in (EXPIRED, RETAINED, None):
            make_group(owner, f"{deleted_at}", deleted_at)
            make_person(owner, name=f"{deleted_at}", deleted_at=deleted_at)
    for deleted_at in (EXPIRED, RETAINED, None):
        ImportantDate.objects.create(
            owner=alice, person=ada, title=f"{deleted_at}", date=NOW.date(), deleted_at=deleted_at
        )
        CustomFieldTemplate.objects.create(
            owner=alice, name="x", slug=f"{deleted_at}", type="TEXT", deleted_at=deleted_at
        )
    removed = purge_deleted(now=NOW)
    assert removed | {"people": 2, "groups": 2, "importantDates": 1, "customFieldTemplates": 1} == removed
    for model, count in ((Group, 4), (Person, 5), (ImportantDate, 2), (CustomFieldTemplate, 2)):
        assert model.unscoped.count() == count
        assert not model.unscoped.filter(deleted_at=EXPIRED).exists()
    assert not any(purge_deleted(now=NOW).values())


def test_purge_removes_related_rows_of_a_person(api: Client, alice: User, media: Path) -> None:
    ada, bob = make_person(alice, name="Ada"), make_person(alice, name="Bob")
    group = api.ok("post", "/api/groups", {"name": "g", "peopleIds": [str(ada.pk), str(bob.pk)]}, status=201)["group"]
    template = CustomFieldTemplate.objects.create(owner=alice, name="x", slug="x", type="TEXT")
    CustomFieldValue.objects.create(owner=alice, person=ada, template=template, value="x")
    ImportantDate.objects.create(owner=alice, person=ada, title="x", date=NOW.date())
    upload(api, f"/api/people/{ada.pk}/photo", picture(color="red"))
    upload(api, f"/api/people/{bob.pk}/photo", picture(color="blue"))
    Person.unscoped.filter(pk=ada.pk).update(deleted_at=EXPIRED)
    purge_deleted(now=NOW)
    bob.refresh_from_db()
    assert photo_files(media) == {bob.photo}
    assert not CustomFieldValue.unscoped.exists()
    assert not ImportantDate.unscoped.exists()
    assert [str(row.group_id) for row in Membership.unscoped.all()] == [group["id"]]


def test_purge_removes_relationships_and_types(api: Client, alice: User) -> None:
    from relationships.models import Relationship

    ada, bob = make_person(alice, name="Ada"), make_person(alice, name="Bob")
    body = {"personId": str(ada.pk), "relatedPersonId": str(bob.pk)}
    key = api.ok("post", "/api/relationships", body)["relationship"]["id"]
    api.ok("delete", f"/api/relationships/{key}")
    before = RelationshipType.unscoped.count()
    kind = {"name": "x", "label": "X", "symmetric": True}
    key = api.ok("post", "/api/relationship-types", kind)["relationshipType"]["id"]
    api.ok("delete", f"/api/relationship-types/{key}")
    purge_deleted(now=timezone.now() + dt.timedelta(days=29))
    assert Relationship.unscoped.count() == 2
    purge_deleted(now=timezone.now() + dt.timedelta(days=31))
    assert not Relationship.unscoped.exists()
    assert RelationshipType.unscoped.count() == before


def test_killed_purge_continues(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trash, "BATCH_SIZE", 2)
    for i in range(7):
        make_group(alice, str(i), EXPIRED)
    kind = trash_kinds()["groups"]
    calls: list[int] = []

    def remove_then_die(owner_id: Any, ids: Any) -> list[str]:
        removed = kind.remove(owner_id, ids)
        calls.append(len(ids))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return removed

    killed_kind = replace(kind, remove=remove_then_die)
    monkeypatch.setattr(trash, "trash_kinds", lambda: {"groups": killed_kind})
    with pytest.raises(KeyboardInterrupt):
        purge_deleted(now=NOW)
    assert Group.unscoped.count() == 3
    assert purge_deleted(now=NOW)["groups"] == 3
    assert calls == [2, 2, 2, 2, 1]


def test_files_left_by_a_crash_are_deleted(api: Client, alice: User, media: Path) -> None:
    ada = make_person(alice)
    name = upload(api, f"/api/people/{ada.pk}/photo", picture()).json()["photo"]
    stray, fresh = f"{'a' * 40}-{alice.pk.hex}.jpg", f"{'b' * 40}-{alice.pk.hex}.jpg"
    for other in (stray, fresh):
        default_storage.save(f"photos/{other[:2]}/{other}", ContentFile(b"x"))
    for path in media.rglob("*.jpg"):
        if path.name != fresh:
            os.utime(path, (0, 0))
    (media / "photos" / "aa" / "notes.txt").write_text("not ours")
    partial = media / "photos" / "aa" / f".{stray}.x{PART_SUFFIX}"
    partial.touch()
    os.utime(partial, (0, 0))
    now = timezone.now()
    assert purge_deleted(now=now)["files"] == 2
    assert photo_files(media) == {name, fresh}
    assert not partial.exists()
    assert (media / "photos" / "aa" / "notes.txt").exists()
    assert purge_deleted(now=now)["files"] == 0


def test_registered_kinds_of_other_apps_are_purged(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def remove(owner_id: Any, now: dt.datetime) -> int:
        seen.append((owner_id, now))
        return 3

    monkeypatch.setattr("people.trash._purge_jobs", {})
    register_purge_job(PurgeJob("things", lambda now: [alice.pk], remove))
    assert len(purge_jobs()) == 1
    assert purge_deleted(now=NOW)["things"] == 3
    assert seen == [(alice.pk, NOW)]


def test_the_command_and_the_task(alice: User, capsys: pytest.CaptureFixture[str]) -> None:
    make_group(alice, "x", EXPIRED)
    call_command("purge_deleted", now="2026-05-04T03:16:00Z")
    assert Group.unscoped.exists()
    call_command("purge_deleted", now="2026-05-04T03:17:00Z")
    assert "groups: 1" in capsys.readouterr().out
    assert not Group.unscoped.exists()
    make_group(alice, "x", timezone.now() - dt.timedelta(days=31))
    for _ in range(2):
        purge_task()
    assert not Group.unscoped.exists()
