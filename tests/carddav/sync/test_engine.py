"""The sync engine with an address book in memory: which changes each side receives, and how many requests it takes."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from accounts.models import User
from carddav.models import Conflict, Mapping, PendingImport
from carddav.sync.context import SyncContext
from contacts_project.kernel.texts import Text
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


TWO_CARDS = (Path(__file__).parents[1] / "two_cards.vcf").read_text()


def test_resource_with_two_cards_is_one_error_that_names_it(synced: SyncedAccount) -> None:
    """Read as one card, they would become a mixed person: Anna with Bert's number, birthday and notes."""
    synced.server.edit("two.vcf", TWO_CARDS)
    synced.server.edit("1.vcf", vcard("Ada L", "TEL:1"))
    run = synced.sync()
    assert counts(run) == {"imported": 1, "errors": 1}
    [message] = [str(Text.from_stored(stored)) for stored in run.error_messages]
    assert "two.vcf" in message
    assert "2 cards" in message
    assert [person.name for person in Person.objects.owned_by(synced.owner)] == ["Ada"]
    assert counts(synced.sync()) == {}  # reported once, until it changes
    synced.server.edit("two.vcf", vcard("Anna", uid="a"))
    assert counts(synced.sync()) == {"imported": 1}


def test_resource_with_two_cards_is_no_pending_import(synced: SyncedAccount) -> None:
    synced.connection.import_mode = "manual"
    synced.connection.save()
    synced.server.edit("two.vcf", TWO_CARDS)
    assert counts(synced.sync()) == {"errors": 1}
    assert not PendingImport.objects.owned_by(synced.owner).exists()


def test_a_mapped_card_that_becomes_two_is_left_alone_on_both_sides(synced: SyncedAccount) -> None:
    href = synced.server.edit("1.vcf", vcard("Anna", "TEL:1", uid="a"))
    synced.sync()
    synced.server.edit(href, TWO_CARDS)
    run = synced.sync()
    assert counts(run) == {"errors": 1}
    person = synced.person("Anna")
    assert (person.organization, person.notes, len(person.phone_numbers)) == (None, None, 1)
    synced.edit(person, organization="Acme")
    run = synced.sync()
    assert "1.vcf" in str(Text.from_stored(run.error_messages[0]))
    assert synced.server.cards[href].text == TWO_CARDS
    # Once the server has one card there, both edits arrive.
    synced.server.edit(href, vcard("Anna", "TEL:1", "EMAIL:anna@example.org", uid="a"))
    assert counts(synced.sync()) == {"updated_locally": 1, "updated_remotely": 1}
    assert "ORG:Acme" in synced.server.cards[href].text


def test_a_card_that_becomes_two_during_the_push_is_not_overwritten(synced: SyncedAccount) -> None:
    href = synced.server.edit("1.vcf", vcard("Anna", "TEL:1", uid="a"))
    synced.sync()
    synced.edit(synced.person("Anna"), organization="Acme")

    def meanwhile(what: str) -> None:
        if what.startswith("put"):
            synced.server.on_request = lambda what: None
            synced.server.edit(href, TWO_CARDS)

    synced.server.on_request = meanwhile
    run = synced.sync()
    assert (run.code, counts(run)["errors"]) == ("", 1)
    assert synced.server.cards[href].text == TWO_CARDS


def test_a_card_with_an_agent_is_one_card(synced: SyncedAccount) -> None:
    agent = "AGENT:\r\nBEGIN:VCARD\r\nVERSION:2.1\r\nFN:Helper\r\nEND:VCARD"
    synced.server.edit("1.vcf", vcard("Ada L", agent, version="2.1"))
    assert counts(synced.sync()) == {"imported": 1}


def test_progress_of_applying_counts_over_the_whole_run(synced: SyncedAccount, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(120):
        synced.server.edit(f"{number}.vcf", vcard(f"Person{number} Test", uid=str(number)))
    synced.server.edit("two.vcf", TWO_CARDS)
    reported: list[tuple[str, int, int]] = []
    real = SyncContext.report_progress

    def record(self: SyncContext, phase: str, message: Text | None = None, current: int = 0, total: int = 0) -> None:
        reported.append((phase, current, total))
        real(self, phase, message, current, total)

    monkeypatch.setattr(SyncContext, "report_progress", record)
    synced.sync()
    applying = [(current, total) for phase, current, total in reported if phase == "applying"]
    assert len(applying) == 6  # before and after each of three batches
    assert {total for _, total in applying} == {121}
    assert [current for current, _ in applying] == sorted(current for current, _ in applying)
    assert (applying[0][0], applying[-1][0]) == (0, 121)
