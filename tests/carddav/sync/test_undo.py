"""Undoing a run restores people. The server is not changed until the user has confirmed the preview of a dry run."""

import datetime as dt
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from carddav.models import Connection, Run, RunChange, Tombstone
from carddav.services.runs import execute_run, start_run
from carddav.services.schedule import purge_history
from people.models import Person
from people.photos.files import read_photo, sweep_files
from tests.builders import PASSWORD
from tests.carddav.sync.synced_account import SyncedAccount, counts, vcard
from tests.client import Client
from tests.pictures import picture


@pytest.fixture
def synced(alice: User) -> SyncedAccount:
    """An account with Ada and Grace on both sides."""
    synced = SyncedAccount(alice)
    for name in ("Ada", "Grace"):
        synced.server.edit(f"{name}.vcf", vcard(name, "ORG:Old", uid=name))
    synced.sync()
    synced.requests()
    return synced


def undo(synced: SyncedAccount, run: Run, **options: Any) -> Any:
    return synced.api.ok("POST", f"/api/carddav/runs/{run.pk}/undo", **options)


def test_undo_reverts_changes_creations_and_deletions(synced: SyncedAccount) -> None:
    synced.server.edit("Ada.vcf", vcard("Ada", "ORG:New", "TEL:1", uid="Ada"))
    synced.server.edit("Zoe.vcf", vcard("Zoe", uid="Zoe"))
    synced.server.remove("/ada/book/Grace.vcf")
    run = synced.sync()
    assert counts(run) == {"imported": 1, "updated_locally": 2}
    before = dict(synced.server.cards)
    assert undo(synced, run) == {"restored": 3, "kept": []}
    ada = synced.person()
    assert (ada.organization, ada.phone_numbers) == ("Old", [])
    assert synced.person("Grace")
    assert Person.objects.owned_by(synced.owner).deleted().get().name == "Zoe"
    assert synced.server.cards == before


def test_undo_is_refused_while_a_run_is_queued(synced: SyncedAccount) -> None:
    """A run queued before the undo would send changes that nobody has previewed."""
    synced.server.edit("Ada.vcf", vcard("Ada", "ORG:New", uid="Ada"))
    run = synced.sync()
    waiting = start_run(owner=synced.owner, trigger="automatic", now=timezone.now())
    response = synced.api.call("POST", f"/api/carddav/runs/{run.pk}/undo")
    assert (response.status_code, response.json()["code"]) == (409, "busy")
    assert synced.person().organization == "New"
    with synced.patch_open_book():
        execute_run(waiting.pk)
    assert undo(synced, run) == {"restored": 1, "kept": []}


def test_run_requested_during_an_undo_is_dry(synced: SyncedAccount) -> None:
    synced.edit(synced.person(), organization="New")
    run_requested_before = start_run(owner=synced.owner, trigger="automatic", now=timezone.now())
    # As if an undo had set it between the read and the write of start_run.
    Connection.objects.owned_by(synced.owner).update(needs_confirmation=True)
    with synced.patch_open_book():
        execute_run(run_requested_before.pk)
    run_requested_before.refresh_from_db()
    assert (run_requested_before.dry_run, counts(run_requested_before)) == (True, {"updated_remotely": 1})
    assert "ORG:Old" in synced.card_of(synced.person())


def test_runs_are_dry_until_one_is_confirmed(synced: SyncedAccount) -> None:
    synced.server.edit("Ada.vcf", vcard("Ada", "ORG:New", uid="Ada"))
    synced.server.edit("Zoe.vcf", vcard("Zoe", uid="Zoe"))
    run = synced.sync()
    undo(synced, run)
    assert not Connection.objects.owned_by(synced.owner).due(run.started_at.replace(year=2200)).exists()
    preview = synced.sync()
    assert preview.dry_run
    assert "ORG:New" in synced.card_of(synced.person())
    done = synced.sync(confirm=True)
    assert not done.dry_run
    assert counts(done) == counts(preview) == {"updated_remotely": 1}
    assert "ORG:Old" in synced.card_of(synced.person())
    # The card of the person that the undone run had created stays on the server and is not imported again.
    assert any("FN:Zoe" in card.text for card in synced.server.cards.values())
    assert Tombstone.objects.owned_by(synced.owner).get().state == "kept"
    again = synced.sync()
    assert (again.dry_run, counts(again), again.pending_imports) == (False, {}, 0)


def test_people_edited_since_are_kept_and_reported(synced: SyncedAccount) -> None:
    synced.server.edit("Ada.vcf", vcard("Ada", "ORG:New", uid="Ada"))
    synced.server.edit("Grace.vcf", vcard("Grace", "ORG:New", uid="Grace"))
    run = synced.sync()
    synced.edit(synced.person(), nickname="Countess")
    response = undo(synced, run)
    assert response["restored"] == 1
    [kept] = response["kept"]
    assert (kept["personId"], kept["personName"]) == (str(synced.person().pk), 'Ada "Countess"')
    assert kept["reason"]
    assert synced.person().organization == "New"
    assert synced.person("Grace").organization == "Old"


def test_own_run_is_undone_once(synced: SyncedAccount, stranger: Client) -> None:
    synced.server.edit("Ada.vcf", vcard("Ada", "ORG:New", uid="Ada"))
    run = synced.sync()
    assert stranger.call("POST", f"/api/carddav/runs/{run.pk}/undo").status_code == 404
    assert synced.person().organization == "New"
    undo(synced, run)
    again = synced.api.call("POST", f"/api/carddav/runs/{run.pk}/undo")
    assert (again.status_code, again.json()["code"]) == (400, "already_undone")
    [first, *_] = synced.api.ok("GET", "/api/carddav/runs")["runs"]
    assert (first["id"], first["undone"]) == (str(run.pk), True)


def test_undo_of_a_run_without_changes_requires_no_confirmation(synced: SyncedAccount) -> None:
    run = synced.sync()
    assert undo(synced, run) == {"restored": 0, "kept": []}
    assert not synced.sync().dry_run


def card_with_photo(color: str) -> str:
    """Ada's card with a photo of this colour."""
    return vcard("Ada", f"PHOTO;ENCODING=b;TYPE=JPEG:{b64encode(picture(color=color)).decode()}", uid="Ada")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("later", [card_with_photo("blue"), vcard("Ada", uid="Ada")])
def test_replaced_or_removed_photo_is_restored(synced: SyncedAccount, media: Path, later: str) -> None:
    synced.server.edit("Ada.vcf", card_with_photo("red"))
    synced.sync()
    former = synced.person().photo
    assert former
    synced.server.edit("Ada.vcf", later)
    run = synced.sync()
    assert synced.person().photo != former
    sweep_files(now=timezone.now() + dt.timedelta(days=30))
    assert undo(synced, run) == {"restored": 1, "kept": []}
    assert synced.person().photo == former
    assert read_photo(former)


@pytest.mark.django_db(transaction=True)
def test_added_photo_is_removed(synced: SyncedAccount, media: Path) -> None:
    synced.server.edit("Ada.vcf", card_with_photo("red"))
    run = synced.sync()
    assert synced.person().photo
    assert undo(synced, run) == {"restored": 1, "kept": []}
    assert synced.person().photo is None
    assert not list(media.rglob("*.jpg"))


@pytest.mark.django_db(transaction=True)
def test_former_photo_is_deleted_with_the_history_and_the_account(synced: SyncedAccount, media: Path) -> None:
    now = timezone.now()
    for color in ("red", "blue", "green"):
        synced.server.edit("Ada.vcf", card_with_photo(color))
        synced.sync()
    assert len(list(media.rglob("*.jpg"))) == 3
    oldest = RunChange.objects.owned_by(synced.owner).exclude(photo=None).order_by("pk").first()
    assert oldest
    Run.objects.owned_by(synced.owner).filter(pk=oldest.run_id).update(started_at=now - dt.timedelta(days=100))
    purge_history(now=now)
    sweep_files(now=now + dt.timedelta(days=2))
    assert len(list(media.rglob("*.jpg"))) == 2
    synced.api.ok("DELETE", "/api/user/delete", {"password": PASSWORD, "confirmationText": "DELETE"})
    assert not list(media.rglob("*.jpg"))


@pytest.mark.django_db(transaction=True)
def test_missing_former_photo_is_reported(synced: SyncedAccount, media: Path) -> None:
    synced.server.edit("Ada.vcf", card_with_photo("red"))
    synced.sync()
    synced.server.edit("Ada.vcf", card_with_photo("blue").replace("FN:Ada", "ORG:New\r\nFN:Ada"))
    run = synced.sync()
    for path in media.rglob(f"{RunChange.objects.owned_by(synced.owner).get(run=run).photo}"):
        path.unlink()
    response = undo(synced, run)
    assert (response["restored"], [kept["personName"] for kept in response["kept"]]) == (1, ["Ada"])
    assert synced.person().organization is None
