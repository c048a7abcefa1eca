"""Random histories of accounts that keep people together and of what they sync with: a phone, a Radicale.

They run only with TEST_ROUNDS, as in `make soak`: four histories of each, times TEST_ROUNDS, half of them on each
database.
"""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule

from carddav.models import Conflict, Mapping
from people.contents.contact import load_local_contacts
from people.contents.fields import Fields, remote_fields
from people.vcard import read_card
from tests.carddav.conftest import card as server_card
from tests.carddav.proxy import Proxy, fault_proxy
from tests.carddav.servers import DavServer, radicale
from tests.carddav.sync.server_synced_account import ServerSyncedAccount
from tests.carddav.sync.synced_account import counts
from tests.dav.devices import card
from tests.dav.test_stateful import GoodCitizen
from tests.loopback import allow_loopback
from tests.rounds import rounds, rounds_per_database
from tests.sharing.household import Member
from tests.sharing.test_histories import SECRET, Histories, picks, run, unique, unused

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(rounds(1) == 1, reason="with TEST_ROUNDS: they take minutes"),
]


class EightWithPhone(Histories):
    """Eight accounts, of whom one has a phone that syncs over `dav` and keeps what it is told."""

    size = 8

    @rule()
    def sync_phone(self) -> None:
        self.phone().sync()

    @rule(pick=picks, how=st.sampled_from(["number", "title", "delete", "new"]))
    def write_on_phone(self, pick: int, how: str) -> None:
        phone = self.phone()
        names = sorted(phone.copies)
        if how == "new":
            name = unused()
            head = f"BEGIN:VCARD\r\nVERSION:3.0\r\nUID:{name}\r\nN:{name};{name[::-1]};;;\r\nFN:{name}\r\n"
            status = phone.send(f"{name}.vcf", card(f"TEL:+43 699 {next(unique)}55", head=head))
            assert status in {201, 507}, status  # 507: the plan has no room
        elif names:
            name = names[pick % len(names)]
            etag, text = phone.copies[name]
            if how == "delete":
                status = phone.device.call("DELETE", f"{phone.device.book}{name}", HTTP_IF_MATCH=etag).status_code
            else:
                line = f"TEL:+43 677 {next(unique)}66" if how == "number" else f"TITLE:{unused()}"
                status = phone.send(name, text.replace("END:VCARD", f"{line}\r\nEND:VCARD"))
            assert status in {204, 404, 412}, status

    def phone(self) -> GoodCitizen:
        if not hasattr(self, "program"):
            self.program = GoodCitizen(self.household.members[1].user)
        return self.program


class WithRadicale(Histories):
    """The first of the accounts syncs with a Radicale, in which another program writes, too."""

    server: DavServer
    proxy: Proxy

    @rule()
    def sync_with_radicale(self) -> None:
        run = self.synced.sync()
        assert run.code == "", (run.code, run.error)

    @rule(writes=st.lists(st.tuples(picks, st.sampled_from(["number", "title", "fewer", "delete", "new"])), max_size=4))
    def sync_before_writes(self, writes: list[tuple[int, str]]) -> None:
        self.sync_and_write(writes)

    def sync_and_write(self, writes: list[tuple[int, str]]) -> None:
        self.sync_with_radicale()
        for pick, how in writes:
            self.write_in_radicale(pick, how)

    def write_in_radicale(self, pick: int, how: str) -> None:
        synced, cards = self.synced, self.cards()
        if how == "new":
            name = unused()
            lines = [f"TEL;TYPE=HOME:+43 688 {next(unique)}77", f"X-ODD:{SECRET}"]
            synced.put(f"{name}.vcf", server_card(name, name, *lines))
        elif cards:
            name = sorted(cards)[pick % len(cards)]
            if how == "delete":
                synced.remove(name)
            elif how == "fewer":
                synced.put(name, re.sub(r"(?m)^TEL.*\r?\n", "", cards[name], count=1))
            elif how == "title":
                text = re.sub(r"(?m)^TITLE.*\r?\n", "", cards[name])
                synced.put(name, text.replace("END:VCARD", f"TITLE:{unused()}\r\nEND:VCARD"))
            else:
                synced.put(name, cards[name].replace("END:VCARD", f"TEL:+43 655 {next(unique)}88\r\nEND:VCARD"))

    @rule(
        pick=picks,
        field=st.sampled_from(["nickname", "jobTitle", "surname"]),
        how=st.sampled_from(["number", "title", "fewer", "delete"]),
    )
    def edit_on_both_sides(self, pick: int, field: str, how: str) -> None:
        """The account edits one person while another program writes a card, perhaps the same."""
        if people := self.owner().people():
            self.owner().put(people[pick % len(people)], **{field: unused()})
        self.write_in_radicale(pick, how)
        self.sync_with_radicale()

    @rule(choice=picks)
    def resolve_with_radicale(self, choice: int) -> None:
        self.resolve_cards(choice)

    def connect(self) -> None:
        self.synced = ServerSyncedAccount(self.owner().user, self.server, self.proxy)

    def owner(self) -> Member:
        return self.household.members[0]

    def cards(self) -> dict[str, str]:
        """The cards by name, as they are on Radicale's disk."""
        assert self.server.files
        folder = self.server.files / self.synced.path.strip("/")
        return {file.name: file.read_bytes().decode() for file in folder.glob("*.vcf")}

    def resolve_cards(self, choice: int) -> int:
        """Resolve the open conflicts with cards; returns how many there were."""
        conflicts = list(Conflict.objects.owned_by(self.owner().user).filter(resolved_at=None).order_by("pk"))
        for conflict in conflicts:
            resolution = ("keep_local", "keep_remote")[choice % 2]
            path = f"/api/carddav/conflicts/{conflict.pk}/resolve"
            self.owner().client.ok("POST", path, {"resolution": resolution})
        return len(conflicts)

    def check(self) -> None:
        self.settings.SAAS_MODE = False
        # Every history ends with edits there of which the account does not know.
        self.sync_and_write([(0, "number"), (1, "title"), (2, "delete"), (3, "new")])
        self.settle_with_radicale()
        super().check()
        self.synced.assert_in_sync()
        self.check_cards()

    def settle_with_radicale(self) -> None:
        """Carry, answer and sync until nothing changes any more."""
        for number in range(8):
            self.household.settle(0)
            before = self.household.revisions()
            run = self.synced.sync()
            assert (run.code, run.error_messages) == ("", [])
            resolved = self.resolve_cards(number)
            if not counts(run) and not resolved and self.household.revisions() == before:
                return
        raise AssertionError(("the sync does not become quiet", counts(run), resolved))

    def check_cards(self) -> None:
        """Everybody of the account has a card, once, that says the same."""
        owner, cards = self.owner(), self.cards()
        people = [person.pk for person in owner.people()]
        mappings = Mapping.objects.owned_by(owner.user).filter(person__in=people)
        names = {mapping.person_id: mapping.href.rpartition("/")[2] for mapping in mappings}
        assert set(names) == set(people)
        assert len(set(names.values())) == len(people)
        for key, contact in load_local_contacts(owner.user, people).items():
            there = remote_fields(read_card(cards[names[key]])[0])
            assert _said(contact.fields) == _said(there), names[key]


def _said(fields: Fields) -> dict[str, Any]:
    """What a card can say of a person without loss."""
    single = {name: fields[name] or "" for name in ("name", "surname", "nickname", "organization", "jobTitle", "notes")}
    numbers = sorted(entry["number"] for entry in fields["phoneNumbers"])
    return {**single, "numbers": numbers, "emails": sorted(entry["email"] for entry in fields["emails"])}


def test_eight_agree_and_one_of_them_has_a_phone(settings: Any) -> None:
    run(EightWithPhone, settings, rounds_per_database(4), 40)


def test_all_agree_and_one_of_them_syncs_with_a_radicale(settings: Any, tmp_path: Path) -> None:
    allow_loopback(settings)
    with radicale(tmp_path) as here, fault_proxy(here.port) as before_it:

        class Machine(WithRadicale):
            server, proxy = here, before_it

        run(Machine, settings, rounds_per_database(4), 50)
