"""Random edits on both sides of real servers while the network and the server misbehave; then syncs until quiet.

Two histories on each server, times TEST_ROUNDS.
"""

import itertools
import re
from random import Random
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from carddav.client.book import AddressBook
from carddav.models import Conflict, Mapping
from contacts_project.kernel.webdav.login import Login
from contacts_project.kernel.webdav.session import open_session
from people.contents.contact import load_local_contacts
from people.models import Person
from people.vcard import read_card
from tests.builders import make_user
from tests.carddav.conftest import USER, card
from tests.carddav.faults import change_header, fail, hide_half, lose_reply, lose_request, method, rename_on_create
from tests.carddav.proxy import Fault, Proxy
from tests.carddav.servers import PASSWORD, DavServer
from tests.carddav.sync.server_synced_account import ServerSyncedAccount
from tests.carddav.sync.synced_account import counts
from tests.rounds import rounds

HISTORIES = rounds(2)
randoms = st.randoms(use_true_random=False)
_numbers = itertools.count()


class History:
    """`expected` are the phone numbers that neither side has removed."""

    def __init__(self, synced: ServerSyncedAccount, random: Random) -> None:
        self.synced, self.random, self.next = synced, random, 1000
        self.expected: set[str] = set()
        self.removals = 0

    def number(self) -> str:
        self.next += 1
        self.expected.add(str(self.next))
        return str(self.next)

    def people(self) -> list[Person]:
        return list(Person.objects.owned_by(self.synced.owner).active().order_by("id"))

    def cards(self) -> dict[str, str]:
        """The text of each card by its href, read without the proxy."""
        url = self.synced.server.url
        with open_session(Login(url, USER, PASSWORD)) as session:
            keys = sorted(
                entry.key for entry in AddressBook(session, url.rstrip("/") + self.synced.path).list().changed
            )
        return {key: self.synced.server.get(USER, key).decode() for key in keys}

    def add_card(self) -> None:
        number = self.number()
        self.synced.put(f"c{number}.vcf", card(f"uid-{number}", f"R{number}", f"TEL;TYPE=HOME:{number}"))

    def add_person(self) -> None:
        number = self.number()
        self.synced.create(name=f"L{number}", phoneNumbers=[{"type": "home", "number": number}])

    def edit_person(self) -> None:
        person = self.random.choice(self.people())
        phones = [{"type": entry["type"], "number": entry["number"]} for entry in person.phone_numbers]
        self.synced.edit(person, phoneNumbers=[*phones, {"type": "work", "number": self.number()}])

    def edit_card(self) -> None:
        href, text = self.random.choice(list(self.cards().items()))
        edited = re.sub(r"END:VCARD\s*$", f"TEL;TYPE=CELL:{self.number()}\r\nEND:VCARD\r\n", text)
        self.synced.server.put(USER, href, edited)

    def remove_card(self) -> None:
        if self.removals < 3:
            self.removals += 1
            href, text = self.random.choice(list(self.cards().items()))
            mapping = Mapping.objects.owned_by(self.synced.owner).filter(href__endswith=href).first()
            self.forget(text, mapping.person if mapping else None)
            self.synced.server.delete(USER, href)

    def remove_person(self) -> None:
        person = self.random.choice(self.people())
        mapping = Mapping.objects.owned_by(self.synced.owner).filter(person=person).first()
        found = [text for href, text in self.cards().items() if mapping and mapping.href.endswith(href)]
        self.forget("".join(found), person)
        body = {"deleteFromCardDav": self.random.random() < 0.7}
        self.synced.api.ok("DELETE", f"/api/people/{person.pk}", body)

    def forget(self, text: str, person: Person | None) -> None:
        numbers = {entry["number"] for entry in person.phone_numbers} if person else set()
        self.expected -= numbers | set(re.findall(r"TEL[^:]*:(\d+)", text))

    def sync_with_a_fault(self) -> None:
        skip = self.random.randrange(4)
        asked = method(*self.random.choice([("PUT", "DELETE"), ("REPORT", "PROPFIND"), ("GET", "REPORT", "PUT")]))
        faults: list[Fault] = [
            lose_reply(when=asked, skip=skip, times=2),
            lose_request(when=asked, skip=skip, times=2),
            fail(500, when=asked, skip=skip, times=1),
            fail(403, when=method("REPORT"), times=1),
            hide_half(when=method("REPORT", "PROPFIND"), times=2),
            change_header("ETag", None, when=method("PUT")),
            change_header("ETag", '"moved"', when=method("PUT")),
            rename_on_create(when=method("PUT")),
        ]
        self.synced.proxy.add(self.random.choice(faults))
        self.synced.sync()
        self.synced.proxy.clear_faults()

    def check(self) -> None:
        for _ in range(2):
            run = self.synced.sync()
            assert run.code == "", run.error
        assert counts(self.synced.sync()) == {}
        assert self.synced.proxy.count() == 1, self.synced.proxy.log()
        owner, there = self.synced.owner, self.cards()
        unresolved = set(Conflict.objects.owned_by(owner).filter(resolved_at=None).values_list("person_id", flat=True))
        mappings = Mapping.objects.owned_by(owner).filter(person__deleted_at=None).exclude(person__in=unresolved)
        sides = load_local_contacts(owner, [mapping.person_id for mapping in mappings])
        for mapping in mappings:
            card_there = read_card(next(text for href, text in there.items() if mapping.href.endswith(href)))[0]
            here = {entry["number"] for entry in sides[mapping.person_id].fields["phoneNumbers"]}
            assert here == {str(entry["number"]) for entry in card_there.phone_numbers}
        assert {person.pk for person in self.people()} <= set(sides) | unresolved
        numbers_here = [entry["number"] for person in self.people() for entry in person.phone_numbers]
        numbers_there = re.findall(r"TEL[^:]*:(\d+)", "".join(there.values()))
        assert self.expected <= {*numbers_here, *numbers_there}
        assert len(numbers_here) == len(set(numbers_here))
        assert len(numbers_there) == len(set(numbers_there))


class RandomFaults(RuleBasedStateMachine):
    """A shorter version of the machine of test_stateful.py, with real servers behind network faults."""

    start: Any

    def __init__(self) -> None:
        super().__init__()
        self.atomic: Any = transaction.atomic()
        self.atomic.__enter__()

    @initialize(random=randoms)
    def connect(self, random: Random) -> None:
        self.history = History(self.start(), random)
        for _ in range(6):
            self.history.add_card()
        self.history.synced.sync()

    @rule(random=randoms)
    def edit(self, random: Random) -> None:
        history = self.history
        history.random = random
        edits = [history.add_card, history.add_person, history.edit_person, history.edit_card, history.edit_card]
        for edit in random.choices([*edits, history.remove_card, history.remove_person], k=2):
            edit()

    @rule(random=randoms)
    def sync_with_a_fault(self, random: Random) -> None:
        self.history.random = random
        self.history.sync_with_a_fault()

    def teardown(self) -> None:
        try:
            if hasattr(self, "history"):
                self.history.synced.proxy.clear_faults()
                self.history.check()
        finally:
            transaction.set_rollback(True)
            self.atomic.__exit__(None, None, None)


@pytest.mark.django_db
def test_both_sides_agree_after_random_faults(server: DavServer, proxy: Proxy) -> None:
    class Machine(RandomFaults):
        @staticmethod
        def start() -> ServerSyncedAccount:
            owner = make_user(f"u{next(_numbers)}@example.org")
            return ServerSyncedAccount(owner, server, proxy, auto_export_new=True)

    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=HISTORIES,
            stateful_step_count=12,
            suppress_health_check=list(HealthCheck),
            database=None,
            deadline=None,
        ),
    )
