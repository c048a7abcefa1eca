"""The sync engine with an address book in memory: which changes each side receives, and how many requests it takes."""

from contextlib import suppress
from typing import Any

import pytest

from accounts.models import User
from carddav.models import Conflict, Mapping, PendingImport
from people.models import Person
from tests.carddav.sync.memory_book import Killed
from tests.carddav.sync.synced_account import SyncedAccount, counts, vcard

pytestmark = pytest.mark.sqlite_suffices


@pytest.mark.both_databases
def test_first_run_imports_and_second_run_sends_nothing(synced: SyncedAccount) -> None:
    for number in range(60):
        synced.server.edit(f"{number}.vcf", vcard(f"Person{number} Test", "TEL:1", uid=str(number)))
    run = synced.sync()
    assert (run.code, counts(run), run.error_messages) == ("", {"imported": 60}, [])
    assert synced.requests() == ["changes", "multiget", "multiget"]
    before = {row.pk: row.updated_at for row in [*Person.unscoped.all(), *Mapping.unscoped.all()]}
    assert counts(synced.sync()) == {}
    assert synced.requests() == ["changes"]
    assert before == {row.pk: row.updated_at for row in [*Person.unscoped.all(), *Mapping.unscoped.all()]}


def test_local_edit_is_one_put_and_is_not_echoed(synced: SyncedAccount) -> None:
    synced.server.edit("1.vcf", vcard("Ada L", "TEL;TYPE=HOME:1", "X-FOO:bar"))
    synced.sync()
    synced.edit(synced.person(), organization="Analytical")
    synced.requests()
    assert counts(synced.sync()) == {"updated_remotely": 1}
    assert synced.requests() == ["changes", "put", "multiget"]
    text = synced.card_of(synced.person())
    assert "ORG:Analytical" in text
    assert "X-FOO:bar" in text
    assert counts(synced.sync()) == {}
    assert synced.requests() == ["changes"]


def test_remote_edit_is_applied(synced: SyncedAccount) -> None:
    href = synced.server.edit("1.vcf", vcard("Ada L", "TEL:1"))
    synced.sync()
    person = synced.person()
    synced.server.edit(href, vcard("Ada L", "TEL:1", "EMAIL:a@example.org", "NOTE:hi"))
    assert counts(synced.sync()) == {"updated_locally": 1}
    person.refresh_from_db()
    assert [entry["email"] for entry in person.emails] == ["a@example.org"]
    assert person.notes == "hi"
    assert counts(synced.sync()) == {}


def test_new_person_is_exported(synced: SyncedAccount) -> None:
    synced.sync()
    synced.api.ok("POST", "/api/people", {"name": "Bob", "phoneNumbers": [{"type": "home", "number": "7"}]}, status=201)
    synced.requests()
    assert counts(synced.sync()) == {"exported": 1}
    assert synced.requests() == ["changes", "put", "multiget"]
    [stored] = synced.server.cards.values()
    assert "FN:Bob" in stored.text
    assert "TEL;TYPE=HOME:7" in stored.text
    assert counts(synced.sync()) == {}
    assert synced.requests() == ["changes"]


@pytest.mark.both_databases
def test_edits_of_different_fields_are_merged(synced: SyncedAccount) -> None:
    href = synced.server.edit("1.vcf", vcard("Ada L", "TEL:1", "TEL;TYPE=WORK:2"))
    synced.sync()
    person = synced.person()
    phones = [*person.phone_numbers, {"type": "car", "number": "3"}]
    synced.edit(person, phoneNumbers=phones, jobTitle="Countess")
    synced.server.edit(href, vcard("Ada L", "TEL:1", "ORG:Home"))
    assert counts(synced.sync()) == {"updated_locally": 1, "updated_remotely": 1}
    person.refresh_from_db()
    assert [entry["number"] for entry in person.phone_numbers] == ["1", "3"]
    assert (person.organization, person.job_title) == ("Home", "Countess")
    text = synced.card_of(person)
    assert "TITLE:Countess" in text
    assert "ORG:Home" in text
    assert ":2" not in text
    assert counts(synced.sync()) == {}


@pytest.mark.both_databases
def test_field_edited_on_both_sides_is_a_conflict(synced: SyncedAccount) -> None:
    href = synced.server.edit("1.vcf", vcard("Ada L", "ORG:A"))
    synced.sync()
    person = synced.person()
    synced.edit(person, organization="B", jobTitle="T")
    synced.server.edit(href, vcard("Ada L", "ORG:C", "NICKNAME:N"))
    assert counts(synced.sync()) == {"updated_locally": 1, "updated_remotely": 1, "conflicts": 1}
    assert counts(synced.sync()) == {}
    person.refresh_from_db()
    assert (person.organization, person.job_title, person.nickname) == ("B", "T", "N")
    text = synced.card_of(person)
    assert "ORG:C" in text
    assert "TITLE:T" in text
    [conflict] = Conflict.objects.owned_by(synced.owner)
    assert conflict.fields == [{"field": "organization", "base": "A", "local": "B", "remote": "C"}]


def test_remote_deletion_moves_the_person_to_the_trash(synced: SyncedAccount) -> None:
    hrefs = [synced.server.edit(f"{n}.vcf", vcard(f"P{n} X", uid=str(n))) for n in range(20)]
    synced.sync()
    synced.server.remove(hrefs[3])
    assert counts(synced.sync()) == {"updated_locally": 1}
    gone = Person.objects.owned_by(synced.owner).deleted().get()
    assert gone.name == "P3"
    assert counts(synced.sync()) == {}


@pytest.mark.both_databases
def test_many_remote_deletions_are_held(synced: SyncedAccount) -> None:
    hrefs = [synced.server.edit(f"{n}.vcf", vcard(f"P{n} X", uid=str(n))) for n in range(20)]
    synced.sync()
    for href in hrefs[:7]:
        synced.server.remove(href)
    run = synced.sync()
    assert counts(run) == {"conflicts": 7}
    assert not Person.objects.owned_by(synced.owner).deleted().exists()
    assert synced.reload().pause == "deletions_held"
    assert counts(synced.sync()) == {}


def test_manual_mode_keeps_new_cards_pending(alice: User) -> None:
    synced = SyncedAccount(alice, import_mode="manual")
    for number in range(250):
        synced.server.edit(f"{number}.vcf", vcard(f"P{number} X"))
    run = synced.sync()
    assert (counts(run), run.pending_imports) == ({}, 250)
    assert synced.requests() == ["changes", *["multiget"] * 5]
    assert counts(synced.sync()) == {}
    assert PendingImport.objects.owned_by(alice).count() == 250


@pytest.mark.parametrize("fault", ["kill_before", "kill_after", "lose_before", "lose_after"])
def test_create_of_unknown_outcome_is_not_duplicated(synced: SyncedAccount, fault: Any) -> None:
    synced.sync()
    synced.api.ok("POST", "/api/people", {"name": "Bob"}, status=201)
    synced.requests()
    synced.server.faults[2] = fault
    with suppress(Killed):
        synced.sync()
    synced.sync()
    synced.sync()
    assert len(synced.server.cards) == 1
    assert counts(synced.sync()) == {}
    assert Person.objects.owned_by(synced.owner).count() == 1
