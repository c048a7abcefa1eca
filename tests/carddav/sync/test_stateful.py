"""Random edits, deletions, faults and kills on both sides; then syncs until quiet.

Afterwards both sides say the same, nothing that nobody removed is lost, and it is quiet within two runs.
Ten histories, times TEST_ROUNDS.
"""

import itertools
from contextlib import suppress

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from carddav.models import Conflict, Mapping
from people.contents.contact import load_local_contacts
from people.contents.fields import remote_fields
from people.models import Person
from people.vcard import read_card
from tests.builders import make_user
from tests.carddav.sync.memory_book import Killed
from tests.carddav.sync.synced_account import SyncedAccount, counts, vcard
from tests.rounds import rounds_per_database, run_histories

EXAMPLES = rounds_per_database(10)
picks = st.integers(0, 999)
unique = itertools.count(100)


def unused() -> str:
    """A number that occurs in no id, because the test searches for it in the responses to other accounts."""
    return f"+{next(unique)}"


def upper(text: str) -> str:
    """What a lossy server stores: types in capitals, lines sorted, organisations dropped."""
    lines = [line.replace("TYPE=home", "TYPE=HOME") for line in text.split("\r\n") if not line.startswith("TITLE")]
    return "\r\n".join(lines)


class Sync(RuleBasedStateMachine):
    """`kept` are the phone numbers that must be on both sides in the end, by contact."""

    @initialize(has_sync=st.booleans(), returns_etag=st.booleans(), is_lossy=st.booleans(), heeds=st.booleans())
    def connect(self, has_sync: bool, returns_etag: bool, is_lossy: bool, heeds: bool) -> None:
        self.expected: set[str] = set()
        self.synced = SyncedAccount(make_user(f"u{next(unique)}@example.org"))
        self.server = self.synced.server
        self.server.has_sync, self.server.returns_etag = has_sync, returns_etag
        if is_lossy:
            self.server.normalize = upper
        for _ in range(8):
            self.add_card(0)
        self.synced.sync()

    def people(self) -> list[Person]:
        return list(Person.objects.owned_by(self.synced.owner).active().order_by("id"))

    def hrefs(self) -> list[str]:
        return list(self.server.cards)

    @rule(pick=picks)
    def add_card(self, pick: int) -> None:
        number = unused()
        self.server.edit(f"c{number}.vcf", vcard(f"R{number} X", f"TEL;TYPE=home:{number}", uid=f"uid-{number}"))
        self.expected.add(number)

    @rule(pick=picks)
    def add_person(self, pick: int) -> None:
        number = unused()
        body = {"name": f"L{number}", "phoneNumbers": [{"type": "home", "number": number}]}
        self.synced.api.ok("POST", "/api/people", body, status=201)
        self.expected.add(number)

    @precondition(lambda self: self.people())
    @rule(pick=picks, what=st.sampled_from(["add", "remove", "organization", "jobTitle", "notes", "surname"]))
    def edit_person(self, pick: int, what: str) -> None:
        person = self.people()[pick % len(self.people())]
        number = unused()
        phones = [{"type": entry["type"], "number": entry["number"]} for entry in person.phone_numbers]
        if what == "add":
            self.synced.edit(person, phoneNumbers=[*phones, {"type": "work", "number": number}])
            self.expected.add(number)
        elif what == "remove":
            self.expected -= {entry["number"] for entry in phones[-1:]}
            self.synced.edit(person, phoneNumbers=phones[:-1])
        else:
            self.synced.edit(person, **{what: number})

    @precondition(lambda self: self.server.cards)
    @rule(pick=picks, what=st.sampled_from(["add", "remove", "ORG", "TITLE", "NOTE"]))
    def edit_card(self, pick: int, what: str) -> None:
        href = self.hrefs()[pick % len(self.hrefs())]
        lines = self.server.cards[href].text.replace("\r\n ", "").split("\r\n")
        number = unused()
        if what == "add":
            lines.insert(-2, f"TEL;TYPE=cell:{number}")
            self.expected.add(number)
        elif what == "remove":
            last = next((line for line in reversed(lines) if line.startswith("TEL")), None)
            lines = [line for line in lines if line != last]
            self.expected.discard((last or "").rpartition(":")[2])
        else:
            lines = [line for line in lines if not line.startswith(what)]
            lines.insert(-2, f"{what}:{number}")
        self.server.edit(href, "\r\n".join(lines))

    @precondition(lambda self: len(self.server.cards) > 3)
    @rule(pick=picks)
    def remove_card(self, pick: int) -> None:
        href = self.hrefs()[pick % len(self.hrefs())]
        mapping = Mapping.objects.owned_by(self.synced.owner).filter(href=href).select_related("person").first()
        self.forget(href, mapping.person if mapping else None)
        self.server.remove(href)

    def forget(self, href: str | None, person: Person | None) -> None:
        """The numbers of a contact that is deleted need not be kept."""
        if person is not None:
            self.expected -= {entry["number"] for entry in person.phone_numbers}
        if href in self.server.cards:
            card, _ = read_card(self.server.cards[href].text)
            self.expected -= {str(entry["number"]) for entry in card.phone_numbers}

    @precondition(lambda self: len(self.people()) > 3)
    @rule(pick=picks, flag=st.booleans())
    def remove_person(self, pick: int, flag: bool) -> None:
        person = self.people()[pick % len(self.people())]
        mapping = Mapping.objects.owned_by(self.synced.owner).filter(person=person).first()
        self.forget(mapping.href if mapping else None, person)
        self.synced.api.ok("DELETE", f"/api/people/{person.pk}", {"deleteFromCardDav": flag})

    @rule(pick=picks)
    def restore_person(self, pick: int) -> None:
        gone = list(Person.objects.owned_by(self.synced.owner).deleted().order_by("id"))
        if gone:
            self.synced.api.ok("POST", f"/api/people/{gone[pick % len(gone)].pk}/restore")

    @rule(
        number=st.integers(1, 8),
        fault=st.sampled_from(["kill_before", "kill_after", "lose_before", "lose_after", "forget"]),
    )
    def sync_with_a_fault(self, number: int, fault: str) -> None:
        self.server.rejects_sync_tokens = fault == "forget"
        if fault != "forget":
            self.server.faults = {len(self.server.requests) + number: fault}
        with suppress(Killed):
            self.synced.sync()
        self.server.faults, self.server.rejects_sync_tokens = {}, False

    @rule()
    def sync(self) -> None:
        self.synced.sync()

    def teardown(self) -> None:
        if not hasattr(self, "synced"):
            return
        self.identify_entries()
        self.compare()
        # The other numbers belong to cards that are not imported, and to contacts in conflict.
        assert self.expected <= self.numbers_here() | self.numbers_there()

    def identify_entries(self) -> None:
        runs = [self.synced.sync() for _ in range(2)]
        assert [run.code for run in runs] == ["", ""], [run.error for run in runs]
        self.synced.requests()
        last = self.synced.sync()
        assert counts(last) == {}, (counts(last), last.error_messages)
        assert self.synced.requests() == ["changes"]

    def numbers_here(self) -> set[str]:
        return {entry["number"] for person in self.people() for entry in person.phone_numbers}

    def numbers_there(self) -> set[str]:
        cards = [read_card(stored.text)[0] for stored in self.server.cards.values()]
        return {str(entry["number"]) for card in cards for entry in card.phone_numbers}

    def compare(self) -> None:
        owner = self.synced.owner
        open_conflicts = set(
            Conflict.objects.owned_by(owner).filter(resolved_at=None).values_list("person_id", flat=True)
        )
        mappings = list(Mapping.objects.owned_by(owner).filter(person__deleted_at=None))
        sides = load_local_contacts(owner, [mapping.person_id for mapping in mappings])
        mapped = {mapping.person_id for mapping in mappings}
        assert {person.pk for person in self.people()} <= mapped | open_conflicts
        for mapping in mappings:
            if mapping.person_id in open_conflicts:
                continue
            local = sides[mapping.person_id].fields
            remote = remote_fields(read_card(self.server.cards[mapping.href].text)[0])
            for field in ("name", "surname", "organization", "notes"):
                assert local[field] == remote[field], (field, local, remote)
            numbers = [{entry["number"] for entry in side["phoneNumbers"]} for side in (local, remote)]
            assert numbers[0] == numbers[1], (local, remote)
            self.expected -= numbers[0]
            assert mapping.etag == self.server.cards[mapping.href].etag


@pytest.mark.django_db
def test_both_sides_agree_after_random_histories() -> None:
    run_histories(Sync, examples=EXAMPLES)
