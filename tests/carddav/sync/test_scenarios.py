"""Scenarios of the sync with an address book in memory that misbehaves as real servers do."""

import time
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from unittest.mock import patch

import pytest
from django.utils import timezone

from accounts.models import User
from carddav.client.address_books import ADDRESS_BOOKS
from carddav.client.book import WriteOutcome
from carddav.models import Conflict, Mapping, OtherCard, PendingImport
from carddav.sync import run
from contacts_project.kernel.webdav.errors import CollectionGoneError, LoginRefusedError, ServerBusyError
from people.models import AwaitedMember, Group, ImportantDate, Membership, Person
from people.photos.names import photo_hash
from tests.carddav.sync.memory_book import Killed
from tests.carddav.sync.synced_account import SyncedAccount, counts, vcard
from tests.pictures import picture, upload

pytestmark = pytest.mark.sqlite_suffices

GROUP_4 = "BEGIN:VCARD\r\nVERSION:4.0\r\nKIND:group\r\nUID:g4\r\nFN:Friends\r\nMEMBER:urn:uuid:{uid}\r\nEND:VCARD\r\n"
GROUP_APPLE = (
    "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:g3\r\nN:Family\r\nFN:Family\r\nX-ADDRESSBOOKSERVER-KIND:group\r\n"
    "X-ADDRESSBOOKSERVER-MEMBER:urn:uuid:{uid}\r\nEND:VCARD\r\n"
)
UID = "6d7f6a0a-3a49-4b58-8a1b-d9a1a1a1a1a1"


def raise_at(error: Exception, *, at: str) -> Callable[[str], None]:
    """Raise on requests of this kind."""

    def fail(what: str) -> None:
        if what.startswith(at):
            raise error

    return fail


def test_card_without_uid_is_imported_once_in_two_runs(synced: SyncedAccount) -> None:
    synced.server.edit("1.vcf", vcard("Ada L"))
    assert counts(synced.sync()) == {"imported": 1}
    assert counts(synced.sync()) == {}


def test_a_synced_person_joins_the_groups_that_wait_for_it(synced: SyncedAccount) -> None:
    group = Group.objects.create(owner=synced.owner, name="Friends", name_key="friends", color="#000000")
    for uid in (UID, "other"):
        AwaitedMember.objects.create(owner=synced.owner, group=group, uid_key=uid)
    href = synced.server.edit("1.vcf", vcard("Ada L", uid=f"urn:uuid:{UID.upper()}"))
    synced.server.edit("2.vcf", vcard("Bob L", uid="bob"))
    synced.sync()
    assert [row.person.name for row in Membership.objects.owned_by(synced.owner)] == ["Ada"]
    assert [row.uid_key for row in AwaitedMember.objects.owned_by(synced.owner)] == ["other"]
    synced.sync()
    assert "CATEGORIES:Friends" in synced.server.cards[href].text


@pytest.mark.both_databases
def test_unparsable_card_does_not_stop_the_others(synced: SyncedAccount) -> None:
    for number in range(59):
        synced.server.edit(f"{number}.vcf", vcard(f"P{number} X"))
    bad = synced.server.edit("bad.vcf", "BEGIN:VCARD\r\nVERSION:3.0\r\nNOTE:nobody\r\nEND:VCARD\r\n")
    run = synced.sync()
    assert counts(run) == {"imported": 59, "errors": 1}
    assert len(run.error_messages) == 1
    synced.requests()
    assert counts(synced.sync()) == {}
    synced.connection.refresh_from_db()
    type(synced.connection).objects.owned_by(synced.owner).update(last_reconcile_at=None)
    assert counts(synced.sync()) == {}
    assert synced.requests() == ["changes", "changes"]
    synced.server.edit(bad, vcard("Bob X"))
    assert counts(synced.sync()) == {"imported": 1}
    assert not OtherCard.objects.owned_by(synced.owner).exists()


@pytest.mark.both_databases
def test_properties_without_field_are_updated_from_a_newer_card(synced: SyncedAccount) -> None:
    """Related names and labels are updated from the newer card, and nothing is written back."""
    old = ("X-ODD:old", "item1.X-ABRELATEDNAMES:Eve", "item1.X-ABLabel:Mutter", "item2.TEL:1", "item2.X-ABLabel:Boat")
    text = vcard("Ada L", uid=UID).replace("END:VCARD", "\r\n".join((*old, "END:VCARD")))
    href = synced.server.edit("1.vcf", text)
    synced.sync()
    newer = text.replace("X-ODD:old\r\n", "").replace(":Mutter", ":Vater").replace(":Eve", ":Bob")
    synced.server.edit(href, newer.replace("END:VCARD", "ROLE:Poet\r\nEND:VCARD"))
    synced.sync()
    person = synced.person()
    assert person.more == [
        {"name": "X-ABRELATEDNAMES", "value": "Bob", "label": "Vater"},
        {"name": "ROLE", "value": "Poet", "label": None},
    ]
    assert [(row.name, row.type_name) for row in person.related_names.all()] == [("Bob", "CHILD")]
    assert [phone["type"] for phone in person.phone_numbers] == ["Boat"]
    synced.requests()
    synced.sync()
    assert synced.requests() == ["changes"]
    assert "ROLE:Poet" in synced.server.cards[href].text


@pytest.mark.both_databases
@pytest.mark.parametrize(("text", "name"), [(GROUP_4, "Friends"), (GROUP_APPLE, "Family")])
def test_group_cards_of_both_dialects_become_groups(synced: SyncedAccount, text: str, name: str) -> None:
    synced.server.edit("1.vcf", vcard("Ada L", uid=UID))
    href = synced.server.edit("g.vcf", text.format(uid=UID))
    assert counts(synced.sync()) == {"imported": 1}
    [member] = Membership.objects.owned_by(synced.owner).filter(group__name=name)
    assert member.person.name == "Ada"
    synced.requests()
    assert counts(synced.sync()) == {}
    assert synced.requests() == ["changes"]
    assert synced.server.cards[href].text == text.format(uid=UID)
    assert not PendingImport.objects.owned_by(synced.owner).exists()
    synced.edit(synced.person(), groupIds=[])
    synced.sync()
    assert not Membership.objects.owned_by(synced.owner).exists()
    assert Group.objects.owned_by(synced.owner).active().filter(name=name).exists()


def test_server_without_sync_collection(synced: SyncedAccount) -> None:
    synced.server.has_sync = False
    href = synced.server.edit("1.vcf", vcard("Ada L"))
    synced.server.edit("2.vcf", vcard("Bob L"))
    synced.sync()
    synced.requests()
    assert counts(synced.sync()) == {}
    assert synced.requests() == ["changes"]
    synced.server.edit(href, vcard("Ada L", "NOTE:later"))
    assert counts(synced.sync()) == {"updated_locally": 1}
    assert synced.requests() == ["changes", "multiget"]
    synced.server.remove(href)
    assert counts(synced.sync()) == {"updated_locally": 1}


@pytest.mark.both_databases
def test_size_of_the_book_includes_pending_imports(alice: User) -> None:
    """Pending imports count towards the size of the book."""
    synced = SyncedAccount(alice, import_mode="manual")
    synced.server.has_sync = False
    for number in range(3):
        synced.server.edit(f"{number}.vcf", vcard(f"Ada{number} L"))
    synced.sync()
    assert PendingImport.objects.owned_by(alice).count() == 3
    synced.server.edit("0.vcf", vcard("Ada0 M"))
    synced.requests()
    with patch.object(run, "_MAX_SMALL_BOOK_CARDS", 2):
        synced.sync()
    assert synced.requests()[:2] == ["changes", "list"]


@pytest.mark.both_databases
def test_run_after_a_push_lists_at_once_without_sync_collection(synced: SyncedAccount) -> None:
    synced.server.has_sync = False
    synced.server.edit("1.vcf", vcard("Ada L"))
    synced.sync()
    synced.edit(synced.person(), notes="mine")
    assert counts(synced.sync()) == {"updated_remotely": 1}
    for _ in range(2):
        synced.requests()
        assert counts(synced.sync()) == {}
        assert synced.requests() == ["changes"]


@pytest.mark.parametrize("runs", [1, 2])
def test_full_listing_instead_of_changes(synced: SyncedAccount, runs: int) -> None:
    hrefs = [synced.server.edit(f"{number}.vcf", vcard(f"P{number} X")) for number in range(10)]
    for _ in range(runs):
        synced.sync()
    synced.server.remove(hrefs[0])
    synced.server.gone.clear()  # like a server that no longer knows the token
    synced.server.rejects_sync_tokens = True
    assert counts(synced.sync()) == {"updated_locally": 1}
    assert Person.objects.owned_by(synced.owner).active().count() == 9


@pytest.mark.both_databases
def test_card_deleted_between_listing_and_fetch(synced: SyncedAccount) -> None:
    for number in range(20):
        synced.server.edit(f"{number}.vcf", vcard(f"P{number} X"))

    def vanish(what: str) -> None:
        if what.startswith("multiget"):
            synced.server.cards.pop("/ada/book/3.vcf", None)

    synced.server.on_request = vanish
    run = synced.sync()
    assert (counts(run), run.error_messages) == ({"imported": 19}, [])


def test_changed_etag_with_equal_content_changes_nothing(synced: SyncedAccount) -> None:
    href = synced.server.edit("1.vcf", vcard("Ada L", "TEL:1"))
    synced.sync()
    synced.server.edit(href, vcard("Ada L", "TEL:1"))
    assert counts(synced.sync()) == {}
    synced.requests()
    synced.sync()
    assert synced.requests() == ["changes"]


@pytest.mark.both_databases
def test_put_refused_for_its_content_is_not_retried(synced: SyncedAccount) -> None:
    synced.sync()
    for name in ("Good", "Bad", "Fine"):
        synced.api.ok("POST", "/api/people", {"name": name}, status=201)
    synced.server.refuses = lambda text: WriteOutcome.REFUSED if "FN:Bad" in text else None
    run = synced.sync()
    assert counts(run) == {"exported": 2, "errors": 1}
    assert "Bad" in str(run.messages[0])
    assert not Conflict.objects.owned_by(synced.owner).exists()
    synced.requests()
    assert counts(synced.sync()) == {}
    assert synced.requests() == ["changes"]
    synced.edit(synced.person("Bad"), name="Better")
    assert counts(synced.sync()) == {"exported": 1}


def test_423_is_retried_at_once(synced: SyncedAccount) -> None:
    synced.server.edit("1.vcf", vcard("Ada L"))
    synced.sync()
    outcomes = iter([WriteOutcome.LOCKED])
    synced.server.refuses = lambda text: next(outcomes, None)
    synced.edit(synced.person(), notes="mine")
    synced.requests()
    assert counts(synced.sync()) == {"updated_remotely": 1}
    assert synced.requests() == ["changes", "put", "put", "multiget"]


def test_full_book_refuses_new_cards_only(synced: SyncedAccount) -> None:
    href = synced.server.edit("1.vcf", vcard("Ada L"))
    synced.sync()
    for name in ("Bob", "Cy"):
        synced.api.ok("POST", "/api/people", {"name": name}, status=201)
    synced.server.edit(href, vcard("Ada L", "NOTE:pulled"))
    synced.server.refuses = lambda text: WriteOutcome.FULL
    run = synced.sync()
    assert counts(run) == {"updated_locally": 1, "errors": 1}
    synced.server.refuses = lambda text: None
    assert counts(synced.sync()) == {"exported": 2}


def test_new_card_of_unknown_outcome_is_reported_once_if_the_book_is_full(synced: SyncedAccount) -> None:
    synced.sync()
    for name in ("Bob", "Cy"):
        synced.api.ok("POST", "/api/people", {"name": name}, status=201)
    synced.requests()
    synced.server.faults = {3: "kill_sent"}
    with suppress(Killed):
        synced.sync()
    [sent] = synced.server.cards.values()
    synced.edit(synced.person("Bob" if "FN:Bob" in sent.text else "Cy"), notes="more")
    synced.server.refuses = lambda text: WriteOutcome.FULL
    run = synced.sync()
    assert (counts(run), len(run.error_messages)) == ({"errors": 1}, 1)
    assert "2 contacts were not sent" in str(run.messages[0])
    synced.server.refuses = lambda text: None
    assert counts(synced.sync()) == {"exported": 1, "updated_remotely": 1}


def test_read_only_book(synced: SyncedAccount) -> None:
    href = synced.server.edit("1.vcf", vcard("Ada L"))
    synced.sync()
    synced.edit(synced.person(), notes="mine")
    synced.server.edit(href, vcard("Ada L", "ORG:theirs"))
    synced.server.refuses = lambda text: WriteOutcome.READ_ONLY
    assert counts(synced.sync()) == {"updated_locally": 1, "errors": 1}
    assert synced.person().organization == "theirs"
    assert synced.person().notes == "mine"


@pytest.mark.both_databases
def test_429_ends_the_run_until_retry_after(synced: SyncedAccount) -> None:
    for number in range(60):
        synced.server.edit(f"{number}.vcf", vcard(f"P{number} X"))
    seen: list[str] = []

    def fail_second(what: str) -> None:
        if what.startswith("multiget"):
            seen.append(what)
            if len(seen) == 2:
                raise ServerBusyError(status=429, retry_after=300)

    synced.server.on_request = fail_second
    run = synced.sync()
    assert run.code == "busy"
    assert Person.objects.owned_by(synced.owner).count() == 50
    connection = synced.reload()
    assert connection.not_before is not None
    assert 290 < (connection.not_before - timezone.now()).total_seconds() <= 300
    synced.server.on_request = lambda what: None
    synced.requests()
    assert synced.sync().code == "busy"
    assert synced.requests() == []
    type(connection).objects.owned_by(synced.owner).update(not_before=None)
    assert counts(synced.sync()) == {"imported": 10}


@pytest.mark.both_databases
def test_wrong_password_pauses_the_sync(synced: SyncedAccount) -> None:
    synced.server.on_request = raise_at(LoginRefusedError(status=401), at="changes")
    run = synced.sync()
    assert run.code == "auth"
    assert synced.requests() == ["changes"]
    assert synced.reload().pause == "auth"
    synced.server.on_request = lambda what: None
    assert synced.sync().code == "auth"
    assert synced.requests() == []
    type(synced.connection).objects.owned_by(synced.owner).update(pause="")
    assert synced.sync().code == ""


@pytest.mark.both_databases
def test_removed_book_is_an_error(synced: SyncedAccount) -> None:
    synced.server.edit("1.vcf", vcard("Ada L"))
    synced.sync()
    synced.server.on_request = raise_at(CollectionGoneError(ADDRESS_BOOKS.gone, status=404), at="changes")
    run = synced.sync()
    assert run.code == "book_gone"
    assert Person.objects.owned_by(synced.owner).active().count() == 1
    assert not Conflict.objects.owned_by(synced.owner).exists()


@pytest.mark.both_databases
def test_empty_book_deletes_nothing(synced: SyncedAccount) -> None:
    hrefs = [synced.server.edit(f"{number}.vcf", vcard(f"P{number} X")) for number in range(3)]
    synced.sync()
    for href in hrefs:
        synced.server.remove(href)
    assert counts(synced.sync()) == {"conflicts": 3}
    conflicts = synced.api.ok("GET", "/api/carddav/conflicts")["conflicts"]
    assert {conflict["kind"] for conflict in conflicts} == {"remote_deleted"}
    for conflict, resolution in zip(conflicts, ["keep_remote", "keep_local", "merged"], strict=True):
        path = f"/api/carddav/conflicts/{conflict['id']}/resolve"
        synced.api.ok("POST", path, {"resolution": resolution})
    assert synced.reload().pause == ""
    assert counts(synced.sync()) == {"exported": 2}
    assert Person.objects.owned_by(synced.owner).active().count() == 2
    assert counts(synced.sync()) == {}


@pytest.mark.both_databases
@pytest.mark.both_databases
def test_each_field_of_a_conflict_is_decided_by_itself(synced: SyncedAccount) -> None:
    def lines(said: str, number: int, color: str) -> list[str]:
        photo = b64encode(picture(color=color)).decode()
        day = f"BDAY:198001{number:02}"
        return [f"ORG:{said}", f"TEL;TYPE=CELL:+43 660 {number}", day, f"PHOTO;ENCODING=b;TYPE=JPEG:{photo}"]

    href = synced.server.edit("1.vcf", vcard("Ada L", *lines("both", 11, "white")))
    synced.sync()
    ada = synced.person()
    row = ImportantDate.objects.owned_by(synced.owner).get()
    synced.api.ok(
        "PUT",
        f"/api/people/{ada.pk}/important-dates/{row.pk}",
        {"type": "BIRTHDAY", "date": "1980-01-12", "reminderEnabled": True},
    )
    synced.edit(ada, organization="here", phoneNumbers=[{**ada.phone_numbers[0], "number": "+43 660 12"}])
    upload(synced.api, f"/api/people/{ada.pk}/photo", picture(color="red"))
    red = photo_hash(synced.person().photo or "")
    synced.server.edit(href, vcard("Ada L", *lines("there", 13, "blue")))
    assert counts(synced.sync()) == {"conflicts": 1}
    [conflict] = synced.api.ok("GET", "/api/carddav/conflicts")["conflicts"]
    sides = {entry["field"]: entry for entry in conflict["fields"]}
    assert sides.keys() == {"organization", "phoneNumbers", "importantDates", "photo"}
    path = f"/api/carddav/conflicts/{conflict['id']}/resolve"
    refused = synced.api.ok("POST", path, {"resolution": "merged", "values": {"photo": "0" * 64}}, status=400)
    assert [(entry["field"], entry["code"]) for entry in refused["details"]] == [("values.photo", "of_neither_side")]
    chosen = {"organization": "local", "phoneNumbers": "local", "importantDates": "remote", "photo": "remote"}
    values = {name: sides[name][side] for name, side in chosen.items()}
    synced.api.ok("POST", path, {"resolution": "merged", "values": values})
    synced.sync()
    ada = synced.person()
    assert (ada.organization, [entry["number"] for entry in ada.phone_numbers]) == ("here", ["+43 660 12"])
    row.refresh_from_db()
    assert (str(row.date), row.reminder_enabled) == ("1980-01-13", True)
    assert photo_hash(ada.photo or "") not in {None, red}
    card = synced.server.cards[href].text
    assert ("ORG:here" in card, "660 12" in card, "660 13" in card) == (True, True, False)


def test_restored_card_ends_the_conflict(synced: SyncedAccount) -> None:
    href = synced.server.edit("1.vcf", vcard("Ada L"))
    synced.sync()
    synced.server.remove(href)
    synced.sync()
    assert Conflict.objects.owned_by(synced.owner).unresolved().exists()
    synced.server.edit(href, vcard("Ada L", "NOTE:back"))
    synced.sync()
    assert synced.person().notes == "back"
    assert not Conflict.objects.owned_by(synced.owner).unresolved().exists()


def test_edit_during_the_push_is_sent_by_the_next_run(synced: SyncedAccount) -> None:
    synced.server.edit("1.vcf", vcard("Ada L"))
    synced.sync()
    person = synced.person()
    synced.edit(person, notes="first")

    def edit_once(what: str) -> None:
        if what.startswith("put"):
            synced.server.on_request = lambda what: None
            synced.edit(person, notes="second")

    synced.server.on_request = edit_once
    assert counts(synced.sync()) == {"updated_remotely": 1}
    assert "NOTE:first" in synced.card_of(person)
    assert counts(synced.sync()) == {"updated_remotely": 1}
    assert "NOTE:second" in synced.card_of(person)
    assert synced.person().notes == "second"
    assert counts(synced.sync()) == {}


@pytest.mark.both_databases
def test_server_that_ignores_if_none_match(synced: SyncedAccount) -> None:
    synced.server.checks_conditions = False
    foreign = synced.server.edit("ada.vcf", vcard("Ada L", "NOTE:foreign"))
    synced.sync()
    for number in range(5):
        synced.api.ok("POST", "/api/people", {"name": f"Ada{number}"}, status=201)
    assert counts(synced.sync()) == {"exported": 5}
    assert len(synced.server.cards) == 6
    assert synced.server.cards[foreign].text == vcard("Ada L", "NOTE:foreign")


def test_update_of_unknown_outcome(synced: SyncedAccount) -> None:
    for fault in ("kill_before", "kill_after", "lose_before", "lose_after"):
        number = fault.replace("_", "")
        href = synced.server.edit(f"{number}.vcf", vcard(f"{number} L"))
        synced.sync()
        synced.edit(synced.person(number), notes="mine")
        synced.requests()
        synced.server.faults[2] = fault
        with suppress(Killed):
            synced.sync()
        synced.sync()
        assert synced.server.cards[href].text.count("NOTE:mine") == 1
        assert counts(synced.sync()) == {}
        assert synced.person(number).notes == "mine"


def test_fields_dropped_by_the_server_are_kept_here(synced: SyncedAccount) -> None:
    def cut(text: str) -> str:
        return "\r\n".join(line for line in text.split("\r\n") if not line.startswith(("NOTE", "CATEGORIES"))).upper()

    synced.server.normalize, synced.server.returns_etag = cut, False
    synced.sync()
    body = {"name": "ADA", "notes": "kept", "emails": [{"type": "home", "email": "ada@example.org"}]}
    synced.api.ok("POST", "/api/people", body, status=201)
    assert counts(synced.sync()) == {"exported": 1}
    assert counts(synced.sync()) == {}
    person = synced.person("ADA")
    assert (person.notes, person.emails[0]["email"]) == ("kept", "ada@example.org")
    synced.edit(person, jobTitle="X")
    assert counts(synced.sync()) == {"updated_remotely": 1}
    assert counts(synced.sync()) == {}
    assert synced.person("ADA").notes == "kept"


def test_unescaped_comma_in_a_group_name(synced: SyncedAccount) -> None:
    synced.server.normalize = lambda text: text.replace("Family\\, near", "Family, near")
    person = synced.make_person(name="Ada")
    synced.sync()
    for name in ("Work", "Family, near"):
        group = synced.api.ok("POST", "/api/groups", {"name": name}, status=201)["group"]
        synced.api.ok("POST", f"/api/groups/{group['id']}/members", {"personId": str(person.pk)})
    assert counts(synced.sync()) == {"updated_remotely": 1}
    assert "CATEGORIES:Work,Family, near" in synced.card_of(person)
    assert counts(synced.sync()) == {}
    assert set(Group.objects.owned_by(synced.owner).values_list("name", flat=True)) == {"Work", "Family, near"}


def test_automatic_import_stops_at_the_plan_limit(synced: SyncedAccount, settings: Any) -> None:
    settings.SAAS_MODE = True
    synced.owner.refresh_from_db()
    limit = synced.owner.plan_limit("people") or 0
    for number in range(limit + 7):
        synced.server.edit(f"{number}.vcf", vcard(f"P{number} X"))
    run = synced.sync()
    assert (counts(run), run.pending_imports, len(run.error_messages)) == ({"imported": limit, "errors": 1}, 7, 1)
    assert counts(synced.sync()) == {}


def test_unchanged_photo_is_kept(synced: SyncedAccount) -> None:
    import base64

    packed = base64.b64encode(picture()).decode()
    href = synced.server.edit("1.vcf", vcard("Ada L", f"PHOTO;ENCODING=b;TYPE=JPEG:{packed}"))
    synced.sync()
    person = synced.person()
    assert person.photo
    synced.edit(person, notes="n")
    assert counts(synced.sync()) == {"updated_remotely": 1}
    assert packed in synced.server.cards[href].text.replace("\r\n ", "")
    synced.server.edit(href, vcard("Ada L", "NOTE:n"))
    assert counts(synced.sync()) == {"updated_locally": 1}
    assert synced.person().photo is None
    assert counts(synced.sync()) == {}


def test_stripped_photo_is_not_pushed_again(synced: SyncedAccount) -> None:
    def strip(text: str) -> str:
        return "\r\n".join(line for line in text.replace("\r\n ", "").split("\r\n") if not line.startswith("PHOTO"))

    synced.server.normalize = strip
    synced.server.edit("1.vcf", vcard("Ada L"))
    synced.sync()
    person = synced.person()
    upload(synced.api, f"/api/people/{person.pk}/photo", picture())
    assert counts(synced.sync()) == {"updated_remotely": 1}
    assert counts(synced.sync()) == {}
    person.refresh_from_db()
    assert photo_hash(person.photo or "")
    synced.edit(person, notes="n")
    assert counts(synced.sync()) == {"updated_remotely": 1}
    assert synced.person().photo == person.photo


def test_too_large_card_is_sent_without_its_photo(synced: SyncedAccount) -> None:
    synced.server.edit("1.vcf", vcard("Ada L"))
    synced.sync()
    person = synced.person()
    upload(synced.api, f"/api/people/{person.pk}/photo", picture())
    synced.edit(person, notes="n")
    synced.server.refuses = lambda text: WriteOutcome.TOO_LARGE if "PHOTO" in text else None
    assert counts(synced.sync()) == {"updated_remotely": 1}
    assert "NOTE:n" in synced.card_of(person)
    assert counts(synced.sync()) == {}


@pytest.mark.both_databases
def test_changed_href_of_a_card(synced: SyncedAccount) -> None:
    for number in range(10):
        synced.server.edit(f"{number}.vcf", vcard(f"P{number} X", uid=f"uid-{number}"))
    synced.sync()
    text = synced.server.cards["/ada/book/3.vcf"].text
    synced.server.remove("/ada/book/3.vcf")
    synced.server.edit("other.vcf", text)
    assert counts(synced.sync()) == {}
    assert Person.objects.owned_by(synced.owner).count() == 10
    assert Mapping.objects.owned_by(synced.owner).get(person__name="P3").href == "/ada/book/other.vcf"
    assert counts(synced.sync()) == {}


@pytest.mark.both_databases
def test_person_excluded_from_sync(synced: SyncedAccount) -> None:
    href = synced.server.edit("1.vcf", vcard("Ada L"))
    synced.sync()
    synced.edit(synced.person(), cardDavSyncEnabled=False, notes="mine")
    synced.server.edit(href, vcard("Ada L", "ORG:theirs"))
    assert counts(synced.sync()) == {}
    assert synced.person().organization is None
    synced.edit(synced.person(), cardDavSyncEnabled=True)
    assert counts(synced.sync()) == {"updated_locally": 1, "updated_remotely": 1}
    assert synced.person().organization == "theirs"
    assert "NOTE:mine" in synced.server.cards[href].text


def test_dry_run_reports_changes_and_makes_none(synced: SyncedAccount) -> None:
    hrefs = [synced.server.edit(f"{number}.vcf", vcard(f"P{number} X")) for number in range(10)]
    synced.sync()
    synced.edit(synced.person("P0"), notes="mine")
    synced.server.edit(hrefs[1], vcard("P1 X", "NOTE:theirs"))
    synced.server.remove(hrefs[2])
    synced.server.edit("new.vcf", vcard("New X"))
    synced.api.ok("POST", "/api/people", {"name": "Local"}, status=201)
    expected = {"imported": 1, "exported": 1, "updated_locally": 2, "updated_remotely": 1}
    before = {href: stored.text for href, stored in synced.server.cards.items()}
    revision = User.objects.get(pk=synced.owner.pk).revision
    assert counts(synced.sync(dry_run=True)) == expected
    assert User.objects.get(pk=synced.owner.pk).revision == revision
    assert before == {href: stored.text for href, stored in synced.server.cards.items()}
    assert counts(synced.sync()) == expected
    assert counts(synced.sync()) == {}


@pytest.mark.both_databases
@pytest.mark.parametrize("is_told", [True, False])
def test_missing_card_to_be_deleted_is_not_counted(synced: SyncedAccount, is_told: bool) -> None:
    hrefs = [synced.server.edit(f"{number}.vcf", vcard(f"P{number} X")) for number in range(10)]
    synced.sync()
    synced.api.ok("DELETE", f"/api/people/{synced.person('P0').pk}", {"deleteFromCardDav": True})
    synced.server.remove(hrefs[0])
    if not is_told:
        synced.server.gone.clear()
    assert counts(synced.sync(dry_run=True)) == counts(synced.sync()) == {}
    assert counts(synced.sync()) == {}


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_dates_without_year_are_the_same_day_in_every_time_zone(
    synced: SyncedAccount, monkeypatch: pytest.MonkeyPatch, zone: str
) -> None:
    """1 January in time zones from UTC-11 to UTC+14, for the account, the request and the process."""
    lines = ["BDAY:--0101", "BDAY;X-APPLE-OMIT-YEAR=1604:1604-01-01", "BDAY:1604-01-01"]
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        User.objects.filter(pk=synced.owner.pk).update(time_zone=zone)
        with timezone.override(zone):
            hrefs = [synced.server.edit(f"{line}.vcf", vcard(f"P{n} X", line)) for n, line in enumerate(lines)]
            synced.sync()
            for number in range(3):
                person = synced.person(f"P{number}")
                [date] = synced.api.ok("GET", f"/api/people/{person.pk}")["person"]["importantDates"]
                assert (date["date"][4:], date["yearUnknown"]) == ("-01-01T00:00:00.000Z", True)
                synced.edit(person, notes="mine")
            assert counts(synced.sync()) == {"updated_remotely": 3}
            for line, href in zip(lines, hrefs, strict=True):
                assert line in synced.server.cards[href].text
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.both_databases
def test_stars_go_both_ways_and_a_server_without_them_takes_none_away(synced: SyncedAccount) -> None:
    href = synced.server.edit("1.vcf", vcard("Ada L", "X-ANDROID-STARRED:1", uid=UID))
    synced.sync()
    assert synced.person().favourite is True
    synced.edit(synced.person(), favourite=False)
    synced.sync()
    assert "STARRED" not in synced.server.cards[href].text
    synced.edit(synced.person(), favourite=True)
    synced.sync()
    assert "X-ANDROID-STARRED:1\r\n" in synced.server.cards[href].text
    text = synced.server.cards[href].text
    synced.server.edit(href, text.replace("X-ANDROID-STARRED:1\r\n", ""))
    synced.sync()
    assert synced.person().favourite is False  # the server had the line and has it no longer
    bob = synced.make_person(name="Bob", favourite=True)
    synced.server.normalize = lambda card: card.replace("X-ANDROID-STARRED:1\r\n", "")
    synced.sync()
    href = Mapping.objects.owned_by(synced.owner).get(person=bob).href
    synced.server.edit(href, synced.card_of(bob).replace("END:VCARD", "NOTE:later\r\nEND:VCARD"))
    synced.sync()
    bob.refresh_from_db()
    assert (bob.favourite, bob.notes) == (True, "later")  # the server never had the line


@pytest.mark.both_databases
def test_quiet_people_get_no_new_card_and_keep_the_one_they_have(synced: SyncedAccount) -> None:
    ada, bob = (synced.make_person(name=name) for name in ("Ada", "Bob"))
    synced.edit(bob, quiet=True)
    assert counts(synced.sync()) == {"exported": 1}
    assert not Mapping.objects.owned_by(synced.owner).filter(person=bob).exists()
    synced.edit(ada, quiet=True, notes="ours")
    synced.sync()
    assert "NOTE:ours\r\n" in synced.card_of(ada)
    href = Mapping.objects.owned_by(synced.owner).get(person=ada).href
    synced.server.edit(href, synced.card_of(ada).replace("NOTE:ours", "NOTE:theirs"))
    synced.sync()
    assert (synced.person().notes, synced.person().quiet) == ("theirs", True)
    with synced.patch_open_book():
        receipt = synced.api.ok("POST", "/api/carddav/export-bulk", {"personIds": [str(bob.pk)]})
    assert (receipt["exported"], receipt["skipped"]) == (0, 1)
    synced.edit(bob, quiet=False)
    assert counts(synced.sync()) == {"exported": 1}


def test_group_card_does_not_hide_an_edit_of_its_member(synced: SyncedAccount) -> None:
    synced.server.edit("1.vcf", vcard("Ada L", uid="ada"))
    synced.sync()
    synced.edit(synced.person(), notes="mine")
    member = "X-ADDRESSBOOKSERVER-MEMBER:urn:uuid:ada"
    synced.server.edit("g.vcf", vcard("Friends", "X-ADDRESSBOOKSERVER-KIND:group", member))
    assert counts(synced.sync()) == {"updated_remotely": 1}
    assert "NOTE:mine" in synced.card_of(synced.person())
    assert "CATEGORIES" not in synced.card_of(synced.person())
    assert counts(synced.sync()) == {}


@pytest.mark.both_databases
def test_categories_bring_the_rule_of_their_group(synced: SyncedAccount) -> None:
    rule = {"name": "Family", "contactReminder": {"interval": 3, "unit": "WEEKS"}, "leadDays": 10}
    synced.api.ok("POST", "/api/groups", rule, status=201)

    def reminder(person: Person) -> tuple[Any, ...]:
        shown = synced.api.ok("GET", f"/api/people/{person.pk}")["person"]
        source = shown["contactReminderFrom"]
        interval = shown["contactReminderInterval"], shown["contactReminderIntervalUnit"]
        return shown["contactReminderEnabled"], *interval, source and source["name"]

    synced.server.edit("1.vcf", vcard("Ada L", "CATEGORIES:Family", uid=UID))
    href = synced.server.edit("2.vcf", vcard("Bob L"))
    synced.sync()
    ada, bob = synced.person("Ada"), synced.person("Bob")
    assert (reminder(ada), reminder(bob)) == ((True, 3, "WEEKS", "Family"), (False, None, None, None))
    synced.server.edit(href, synced.card_of(bob).replace("END:VCARD", "CATEGORIES:Family\r\nEND:VCARD"))
    synced.sync()
    assert reminder(bob) == (True, 3, "WEEKS", "Family")
    assert synced.api.ok("GET", "/api/people?withoutGroups=true")["people"] == []
