"""What a dry run says is what the run then does, on any two books; and the dry run changes neither."""

import base64
import itertools
from typing import Any

import pytest
from django.conf import settings as django_settings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from carddav.models import RUN_COUNTS, Conflict, Connection, JournalEntry, Mapping, PendingImport, Run, Tombstone
from people.models import Person
from tests.builders import make_user, set_plan_limits
from tests.carddav.sync.synced_account import SyncedAccount, vcard
from tests.pictures import picture, upload
from tests.rounds import rounds_per_database

unique = itertools.count(5_000)
EDITS = ("name", "organization", "notes", "phone", "group", "birthday")
picks = st.integers(0, 99)
before = st.lists(st.tuples(st.sampled_from(["card", "person"]), picks), max_size=6)


class Books:
    """An account and a server, and random things that happen to both."""

    def __init__(self, **connection: Any) -> None:
        self.synced = SyncedAccount(make_user(f"dry-{next(unique)}@example.org"), **connection)
        self.server = self.synced.server

    def people(self) -> list[Person]:
        return list(Person.objects.owned_by(self.synced.owner).active().order_by("id"))

    def pick_person(self, pick: int) -> Person | None:
        people = self.people()
        return people[pick % len(people)] if people else None

    def pick_href(self, pick: int) -> str | None:
        hrefs = list(self.server.cards)
        return hrefs[pick % len(hrefs)] if hrefs else None

    def href_of(self, person: Person) -> str | None:
        mapping = Mapping.objects.owned_by(self.synced.owner).filter(person=person).first()
        return mapping.href if mapping is not None and mapping.href in self.server.cards else None

    def body(self, pick: int) -> dict[str, Any]:
        what, text = EDITS[pick % len(EDITS)], f"t{pick % 7}"
        bodies: dict[str, dict[str, Any]] = {
            "phone": {"phoneNumbers": [{"type": "home", "number": f"+49 30 {pick}"}]},
            "birthday": {"importantDates": [{"type": "BIRTHDAY", "date": f"2000-01-{1 + pick % 28:02}"}]},
            "group": {"groupIds": [self.group_id(text)]},
        }
        return bodies.get(what, {what: text})

    def group_id(self, name: str) -> str:
        groups = self.synced.api.ok("GET", "/api/groups")["groups"]
        known = [group["id"] for group in groups if group["name"] == name]
        made = known or [self.synced.api.ok("POST", "/api/groups", {"name": name}, status=201)["group"]["id"]]
        return str(made[0])

    def edit_text(self, text: str, pick: int) -> str:
        lines = text.replace("\r\n ", "").split("\r\n")
        name = ("ORG", "NOTE", "TEL", "CATEGORIES", "BDAY", "TITLE", "X-SPOUSE")[pick % 7]
        value = f"2000-01-{1 + pick % 28:02}" if name == "BDAY" else f"t{pick % 5}"
        return "\r\n".join(
            [*(line for line in lines[:-2] if not line.startswith(name)), f"{name}:{value}", *lines[-2:]]
        )

    def happen(self, what: str, pick: int) -> None:
        """Something on one side or on both, to a person or a card that `pick` chooses; nothing if there is none."""
        if what in _NEW:
            _NEW[what](self, pick, next(unique))
        elif what in _TO_PEOPLE and (person := self.pick_person(pick)) is not None:
            _TO_PEOPLE[what](self, person, pick, next(unique))
        elif what in _TO_CARDS and (href := self.pick_href(pick)) is not None:
            _TO_CARDS[what](self, href, pick, next(unique))

    def add_card(self, pick: int, number: int) -> None:
        self.server.edit(f"c{number}.vcf", self.edit_text(vcard(f"R{number} X", uid=f"u{number}"), pick))

    def add_person(self, pick: int, number: int) -> None:
        self.synced.api.ok("POST", "/api/people", {"name": f"L{number}", **self.body(pick)}, status=201)

    def add_group_card(self, pick: int, number: int) -> None:
        members = [f"X-ADDRESSBOOKSERVER-MEMBER:urn:uuid:{row.uid}" for row in self.people()[:2]]
        self.server.edit(f"g{number}.vcf", vcard(f"G{number}", "X-ADDRESSBOOKSERVER-KIND:group", *members))

    def edit_person(self, person: Person, pick: int, number: int) -> None:
        self.synced.edit(person, **self.body(pick))

    def delete_person(self, person: Person, pick: int, number: int) -> None:
        self.synced.api.ok("DELETE", f"/api/people/{person.pk}")

    def delete_both(self, person: Person, pick: int, number: int) -> None:
        self.synced.api.ok("DELETE", f"/api/people/{person.pk}?deleteFromCardDav=true")

    def stop_syncing(self, person: Person, pick: int, number: int) -> None:
        self.synced.edit(person, cardDavSyncEnabled=False)

    def add_card_of_same_uid(self, person: Person, pick: int, number: int) -> None:
        text = self.edit_text(vcard(f"{person.name} {person.surname or ''}", uid=person.uid), pick)
        for name in ("s", "z")[: 1 + pick % 2]:
            self.server.edit(f"{name}{number}.vcf", text)

    def add_card_of_same_content(self, person: Person, pick: int, number: int) -> None:
        self.server.edit(f"n{number}.vcf", vcard(f"{person.name} {person.surname or ''}"))

    def edit_both(self, person: Person, pick: int, number: int) -> None:
        if (href := self.href_of(person)) is not None:
            self.server.edit(href, self.edit_text(self.server.cards[href].text, pick + pick % 2))
        self.synced.edit(person, **self.body(pick))

    def edit_both_alike(self, person: Person, pick: int, number: int) -> None:
        if (href := self.href_of(person)) is not None:
            self.server.edit(href, self.edit_text(self.server.cards[href].text, 7))
        self.synced.edit(person, organization="t2")

    def edit_card_of_deleted(self, person: Person, pick: int, number: int) -> None:
        if (href := self.href_of(person)) is not None:
            self.server.edit(href, self.edit_text(self.server.cards[href].text, pick))
        self.delete_both(person, pick, number)

    def change_photo(self, person: Person, pick: int, number: int) -> None:
        file = picture("PNG", (8, 8), color=("red", "blue")[pick % 2])
        assert upload(self.synced.api, f"/api/people/{person.pk}/photo", file).status_code == 200

    def edit_card(self, href: str, pick: int, number: int) -> None:
        self.server.edit(href, self.edit_text(self.server.cards[href].text, pick))

    def delete_card(self, href: str, pick: int, number: int) -> None:
        self.server.remove(href)

    def move_card(self, href: str, pick: int, number: int) -> None:
        text = self.server.cards[href].text
        self.server.remove(href)
        self.server.edit(f"m{number}.vcf", text)

    def break_card(self, href: str, pick: int, number: int) -> None:
        self.server.edit(href, "BEGIN:VCARD\r\nVERSION:3.0\r\nnonsense\r\n")

    def put_photo_on_card(self, href: str, pick: int, number: int) -> None:
        data = base64.b64encode(picture("PNG", (8, 8), color=("red", "blue")[pick % 2])).decode()
        lines = self.server.cards[href].text.split("\r\n")
        self.server.edit(href, "\r\n".join([*lines[:-2], f"PHOTO;ENCODING=b;TYPE=PNG:{data}", *lines[-2:]]))

    def state(self) -> list[Any]:
        """Everything that a dry run must leave as it is."""
        owner = self.synced.owner
        tables = (Person, Mapping, Conflict, JournalEntry, PendingImport, Tombstone)
        rows = [list(table.objects.owned_by(owner).order_by("pk").values()) for table in tables]
        connection = Connection.objects.owned_by(owner).values("sync_token", "ctag", "pause").get()
        cards = {href: (card.text, card.etag) for href, card in self.server.cards.items()}
        return [*rows, connection, cards]


_NEW = {"card": Books.add_card, "person": Books.add_person, "group card": Books.add_group_card}
_TO_PEOPLE = {
    "edit": Books.edit_person,
    "delete": Books.delete_person,
    "delete both": Books.delete_both,
    "unsync": Books.stop_syncing,
    "same uid": Books.add_card_of_same_uid,
    "same content": Books.add_card_of_same_content,
    "edit both": Books.edit_both,
    "edit both alike": Books.edit_both_alike,
    "trash and edit card": Books.edit_card_of_deleted,
    "photo": Books.change_photo,
}
_TO_CARDS = {
    "edit card": Books.edit_card,
    "delete card": Books.delete_card,
    "move card": Books.move_card,
    "break card": Books.break_card,
    "card photo": Books.put_photo_on_card,
}
happenings = st.lists(st.tuples(st.sampled_from([*_NEW, *_TO_PEOPLE, *_TO_CARDS]), picks), max_size=10)


def outcome(run: Run) -> dict[str, int]:
    assert run.code == "", run.error
    return {name: getattr(run, name) for name in RUN_COUNTS if getattr(run, name)}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("import_mode", ["auto", "manual"])
@settings(
    max_examples=rounds_per_database(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    before=before,
    changes=happenings,
    is_synced=st.booleans(),
    auto_export=st.booleans(),
    has_sync=st.booleans(),
    limit=st.sampled_from([None, None, 3]),
)
def test_a_dry_run_says_what_the_run_then_does(
    import_mode: str,
    before: list[tuple[str, int]],
    changes: list[tuple[str, int]],
    is_synced: bool,
    auto_export: bool,
    has_sync: bool,
    limit: int | None,
) -> None:
    books = Books(import_mode=import_mode, auto_export_new=auto_export)
    books.server.has_sync = has_sync
    for what, pick in before:
        books.happen(what, pick)
    if is_synced:
        books.synced.sync()
    for what, pick in changes:
        books.happen(what, pick)
    was_saas, was_limits = django_settings.SAAS_MODE, django_settings.PLAN_LIMITS
    try:
        if limit is not None:
            set_plan_limits(django_settings, people=limit)
        state = books.state()
        dry = books.synced.sync(dry_run=True)
        assert books.state() == state
        real = books.synced.sync()
        assert (real.dry_run, dry.dry_run) == (False, True)
        assert outcome(dry) == outcome(real), (dry.error_messages, real.error_messages)
    finally:
        django_settings.SAAS_MODE, django_settings.PLAN_LIMITS = was_saas, was_limits
