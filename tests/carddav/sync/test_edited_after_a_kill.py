"""A run is killed after its write, and another client edits the card before the next run. Both edits survive.

Edits of parts that the write did not touch are taken over. Parts that the write changed and that are missing now are
sent again, because the server may have dropped them, so that nothing is lost.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from accounts.models import User
from carddav.models import Conflict, JournalEntry
from people.contents.contact import load_local_contact
from people.contents.fields import remote_fields
from people.models import Person
from people.vcard import read_card
from tests.carddav.sync.memory_book import Killed
from tests.carddav.sync.synced_account import SyncedAccount, counts, vcard

# On PostgreSQL, the random histories of test_stateful.py cover this.
pytestmark = [pytest.mark.one_database, pytest.mark.pairs]

Edit = Callable[[list[str]], list[str]]
#: Where the run is killed: before the response to the write arrives, or before the card is read back.
KILL_FAULTS = {"reply": "kill_after", "read back": "kill_before"}
HOME, WORK, OLD_ORG = "TEL;TYPE=HOME:1", "TEL;TYPE=WORK:2", "ORG:Old"


@pytest.fixture(params=["etag", "no etag"])
def synced(request: pytest.FixtureRequest, alice: User) -> SyncedAccount:
    synced = SyncedAccount(alice)
    synced.server.returns_etag = request.param == "etag"
    return synced


def kill_after_put(synced: SyncedAccount, cut: str) -> str:
    """Sync and be killed after the PUT; returns the href of the only card."""
    synced.requests()
    synced.server.faults = {2 if cut == "reply" else 3: KILL_FAULTS[cut]}
    with suppress(Killed):
        synced.sync()
    assert synced.requests()[1] == "put"
    assert not synced.server.faults
    assert JournalEntry.objects.owned_by(synced.owner).count() == 1
    [href] = synced.server.cards
    return href


def kill_create(synced: SyncedAccount, cut: str) -> str:
    synced.sync()
    phones = [{"type": "home", "number": "1"}, {"type": "work", "number": "2"}]
    body = {"name": "Ada", "phoneNumbers": phones, "organization": "Old", "notes": "mine", "jobTitle": "Countess"}
    synced.api.ok("POST", "/api/people", body, status=201)
    return kill_after_put(synced, cut)


def kill_update(synced: SyncedAccount, cut: str) -> str:
    synced.server.edit("1.vcf", vcard("Ada", HOME, WORK, OLD_ORG, "NOTE:old", uid="1"))
    synced.sync()
    person = synced.person()
    phones = [*person.phone_numbers, {"type": "car", "number": "3"}]
    synced.edit(person, phoneNumbers=phones, notes="mine", jobTitle="Countess")
    return kill_after_put(synced, cut)


def edit_card(synced: SyncedAccount, href: str, edit: Edit) -> None:
    lines = synced.server.cards[href].text.replace("\r\n ", "").split("\r\n")
    synced.server.edit(href, "\r\n".join(edit(lines)))


def remove_lines(*starts: str) -> Edit:
    def edit(lines: list[str]) -> list[str]:
        kept = [line for line in lines if not line.startswith(starts)]
        assert len(kept) == len(lines) - len(starts)
        return kept

    return edit


def add_line(line: str, *, instead_of: tuple[str, ...] = ()) -> Edit:
    def edit(lines: list[str]) -> list[str]:
        kept = remove_lines(*instead_of)(lines)
        return [*kept[:-2], line, *kept[-2:]]

    return edit


def sync_until_equal(synced: SyncedAccount) -> dict[str, Any]:
    """Sync until a run finds nothing to do, the third at the latest; returns the fields, equal on both sides."""
    for _ in range(3):
        run = synced.sync()
        assert (run.code, run.error_messages) == ("", [])
        if (asked := synced.requests()) == ["changes"]:
            break
    assert (asked, counts(run)) == (["changes"], {})
    assert not Conflict.objects.owned_by(synced.owner).exists()
    person = synced.person()
    here = load_local_contact(synced.owner, person.pk).fields
    there = remote_fields(read_card(synced.card_of(person))[0])
    sides = [
        {
            **{field: side[field] for field in ("organization", "notes", "jobTitle", "nickname")},
            "phones": sorted(entry["number"] for entry in side["phoneNumbers"]),
        }
        for side in (here, there)
    ]
    assert sides[0] == sides[1]
    return sides[0]


#: The fields of both sides if the card is not edited by others.
UNEDITED: dict[str, Any] = {
    "organization": "Old",
    "notes": "mine",
    "jobTitle": "Countess",
    "nickname": None,
    "phones": ["1", "2"],
}
#: Edits of the card, and the fields of both sides that differ afterwards.
EDITS: dict[str, tuple[Edit, dict[str, Any]]] = {
    "nothing": (lambda lines: lines, {}),
    "a phone added": (add_line("TEL;TYPE=CELL:4"), {"phones": ["1", "2", "4"]}),
    "a phone changed": (add_line("TEL;TYPE=HOME:9", instead_of=("TEL;TYPE=HOME",)), {"phones": ["2", "9"]}),
    "another value added": (add_line("NICKNAME:Addy"), {"nickname": "Addy"}),
    "what was sent is changed": (add_line("NOTE:theirs", instead_of=("NOTE",)), {"notes": "theirs"}),
    "what was sent is added to": (add_line("NOTE:mine and more", instead_of=("NOTE",)), {"notes": "mine and more"}),
    "all sorts": (
        lambda lines: add_line("NICKNAME:Addy")(add_line("TITLE:Lady", instead_of=("TITLE",))(lines)),
        {"nickname": "Addy", "jobTitle": "Lady"},
    ),
}


@pytest.mark.parametrize("cut", KILL_FAULTS)
@pytest.mark.parametrize("edit", EDITS)
def test_edit_of_a_new_card_is_kept(synced: SyncedAccount, cut: str, edit: str) -> None:
    change, expected = EDITS[edit]
    edit_card(synced, kill_create(synced, cut), change)
    assert sync_until_equal(synced) == UNEDITED | expected


@pytest.mark.parametrize("cut", KILL_FAULTS)
@pytest.mark.parametrize(
    "edit",
    [
        *EDITS,
        "a phone removed",
        "the organization changed",
        "the organization removed",
    ],
)
def test_edit_of_a_changed_card_is_kept(synced: SyncedAccount, cut: str, edit: str) -> None:
    untouched: dict[str, tuple[Edit, dict[str, Any]]] = {
        "a phone removed": (remove_lines("TEL;TYPE=WORK"), {"phones": ["1"]}),
        "the organization changed": (add_line("ORG:New", instead_of=("ORG",)), {"organization": "New"}),
        "the organization removed": (remove_lines("ORG"), {"organization": None}),
    }
    change, expected = {**EDITS, **untouched}[edit]
    edit_card(synced, kill_update(synced, cut), change)
    said = UNEDITED | expected
    assert sync_until_equal(synced) == said | {"phones": sorted([*said["phones"], "3"])}


@pytest.mark.parametrize("cut", KILL_FAULTS)
@pytest.mark.parametrize("gone", ["TEL;TYPE=HOME", "NOTE", "TITLE"])
@pytest.mark.parametrize("also", ["", "NICKNAME:Addy"])
def test_missing_parts_of_a_new_card_are_sent_again(synced: SyncedAccount, cut: str, gone: str, also: str) -> None:
    href = kill_create(synced, cut)
    edit_card(synced, href, remove_lines(gone))
    if also:
        edit_card(synced, href, add_line(also))
    assert sync_until_equal(synced) == UNEDITED | {"nickname": "Addy" if also else None}


@pytest.mark.parametrize("cut", KILL_FAULTS)
@pytest.mark.parametrize("gone", ["TEL;TYPE=CAR", "NOTE"])
def test_missing_parts_of_a_changed_card_are_sent_again(synced: SyncedAccount, cut: str, gone: str) -> None:
    edit_card(synced, kill_update(synced, cut), lambda lines: [line for line in lines if not line.startswith(gone)])
    said = sync_until_equal(synced)
    assert (said["notes"], said["jobTitle"]) == ("mine", "Countess")


@pytest.mark.parametrize("cut", KILL_FAULTS)
def test_slightly_changed_long_text_is_a_conflict(synced: SyncedAccount, cut: str) -> None:
    """The server may have damaged the text, or another client edited it."""
    synced.sync()
    long = "The analytical engine has no pretensions whatever to originate anything, call 1843"
    synced.api.ok("POST", "/api/people", {"name": "Ada", "notes": long}, status=201)
    href = kill_after_put(synced, cut)
    edit_card(synced, href, lambda lines: [line.replace("1843", "1844") for line in lines])
    synced.sync()
    [conflict] = Conflict.objects.owned_by(synced.owner).filter(resolved_at=None)
    assert [(field["local"], field["remote"]) for field in conflict.fields] == [(long, long.replace("1843", "1844"))]


@pytest.mark.parametrize("edit", EDITS)
def test_edit_of_a_renamed_new_card_is_kept(synced: SyncedAccount, edit: str) -> None:
    change, expected = EDITS[edit]
    href = kill_create(synced, "reply")
    text = synced.server.cards[href].text
    synced.server.remove(href)
    edit_card(synced, synced.server.edit("renamed.vcf", text), change)
    assert sync_until_equal(synced) == UNEDITED | expected
    assert list(synced.server.cards) == ["/ada/book/renamed.vcf"]


@pytest.mark.parametrize("cut", KILL_FAULTS)
@pytest.mark.parametrize("kill_write", [kill_create, kill_update])
def test_fields_dropped_by_the_server_are_kept_here(
    synced: SyncedAccount, cut: str, kill_write: Callable[[SyncedAccount, str], str]
) -> None:
    synced.server.normalize = lambda text: "".join(
        line for line in text.splitlines(True) if not line.startswith("TITLE")
    )
    href = kill_write(synced, cut)
    edit_card(synced, href, add_line("NICKNAME:Addy"))
    for _ in range(2):
        synced.sync()
    synced.requests()
    assert counts(synced.sync()) == {}
    assert synced.requests() == ["changes"]
    person = synced.person()
    assert (person.job_title, person.nickname, person.notes) == ("Countess", "Addy", "mine")
    assert "TITLE" not in synced.card_of(person)


def test_write_that_did_not_arrive_is_detected(synced: SyncedAccount) -> None:
    """A field in conflict differs from its base anyway, so it does not prove that the write arrived."""
    href = synced.server.edit("1.vcf", vcard("Ada", "NOTE:old", uid="1"))
    synced.sync()
    synced.edit(synced.person(), notes="here")
    edit_card(synced, href, add_line("NOTE:there", instead_of=("NOTE",)))
    synced.sync()
    assert Conflict.objects.owned_by(synced.owner).exists()
    synced.edit(synced.person(), jobTitle="Countess")
    synced.requests()
    synced.server.faults = {2: "kill_before"}
    with suppress(Killed):
        synced.sync()
    assert synced.requests() == ["changes", "put"]
    edit_card(synced, href, add_line("TITLE:Lady"))
    synced.sync()
    person = synced.person()
    assert (person.job_title, person.notes) == ("Countess", "here")
    assert "TITLE:Lady" in synced.card_of(person)
    [conflict] = Conflict.objects.owned_by(synced.owner).filter(resolved_at=None)
    assert {field["field"] for field in conflict.fields} == {"notes", "jobTitle"}


@pytest.mark.parametrize(("cut", "kind"), [("reply", "remote_deleted"), ("read back", None)])
def test_removed_card_of_a_changed_person(synced: SyncedAccount, cut: str, kind: str | None) -> None:
    """A person whose edit may not have reached the card is deleted only after a decision."""
    for name in ("Bob", "Cy"):
        synced.server.edit(f"{name}.vcf", vcard(name, uid=name))
    synced.sync()
    synced.edit(synced.person("Bob"), notes="mine")
    synced.requests()
    synced.server.faults = {2 if cut == "reply" else 3: KILL_FAULTS[cut]}
    with suppress(Killed):
        synced.sync()
    synced.server.remove("/ada/book/Bob.vcf")
    synced.sync()
    open_conflicts = Conflict.objects.owned_by(synced.owner).filter(resolved_at=None)
    assert list(open_conflicts.values_list("kind", flat=True)) == ([kind] if kind else [])
    people = Person.objects.owned_by(synced.owner)
    assert people.get(name="Bob").notes == "mine"
    assert list(people.deleted().values_list("name", flat=True)) == ([] if kind else ["Bob"])


@pytest.mark.parametrize("cut", KILL_FAULTS)
def test_removed_new_card_is_written_again(synced: SyncedAccount, cut: str) -> None:
    synced.server.remove(kill_create(synced, cut))
    assert sync_until_equal(synced) == UNEDITED
    assert len(synced.server.cards) == 1
