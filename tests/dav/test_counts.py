"""What the server costs: statements and rows, counted."""

from functools import partial
from typing import Any

import pytest
from django.db.models import Sum
from django.db.models.functions import Length
from PIL import Image

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import account_write
from dav.cards.refresh import store
from dav.models import Book, BookCard, FormerText, GivenCard, ListedAgain
from dav.resources import book
from people.models import Person
from people.vcard import parse_lines, parser
from tests.client import client_of
from tests.dav.devices import DECLARED, Device, card
from tests.dav.test_photos import encoded, photo_line
from tests.queries import count_queries

pytestmark = pytest.mark.django_db


def make_people(user: User, number: int, start: int = 0) -> None:
    with account_write(user):
        Person.objects.owned_by(user).bulk_create(
            Person(owner=user, name=f"Person {n}", uid=f"u-{n}", notes="x" * 300) for n in range(start, start + number)
        )


def test_an_idle_sync_is_one_statement(alice: User) -> None:
    make_people(alice, 3)
    device = Device(alice)
    token = device.sync("", "d:getetag", "card:address-data").token
    for names in ((), ("cs:getctag",), ("cs:getctag", "d:sync-token")):
        ask = partial(device.propfind, device.book, *names) if names else partial(device.sync, token)
        ask()
        assert count_queries(ask) == 1


def test_a_sync_costs_what_changed(alice: User) -> None:
    make_people(alice, 30)
    device, api = Device(alice), client_of(alice)
    token = device.sync().token
    costs = []
    for size in (1, 20):
        people = api.ok("GET", "/api/people?limit=100")["people"][:size]
        for person in people:
            api.ok("PUT", f"/api/people/{person['id']}", {"nickname": f"N{size}"})
        answers = []
        costs.append(count_queries(lambda: answers.append(device.sync(token))))  # noqa: B023
        assert len(answers[0].entries) == size
        token = answers[0].token
    assert costs[0] == costs[1]


def test_lengths_cost_no_statement_a_card(alice: User) -> None:
    device = Device(alice)
    costs = []
    for start, number in ((0, 2), (2, 20)):
        make_people(alice, number, start)
        device.sync()
        asks = (
            partial(device.propfind, device.book, "d:getcontentlength", depth="1"),
            partial(device.sync, "", "d:getcontentlength"),
        )
        costs.append([count_queries(ask) for ask in asks])
    assert costs[0] == costs[1]


def test_cards_on_five_current_devices_cost_rows_and_no_texts(alice: User) -> None:
    make_people(alice, 300)
    devices = [Device(alice) for _ in range(5)]
    for device in devices:
        assert len(device.sync("", "d:getetag", "card:address-data").entries) == 300
    assert (BookCard.objects.owned_by(alice).count(), GivenCard.objects.owned_by(alice).count()) == (300, 1500)
    assert FormerText.objects.owned_by(alice).count() == 0
    one = GivenCard.objects.owned_by(alice).first()
    assert one is not None
    assert len(one.etag) == 32
    # One person changes: the devices that have not read it yet share one former text.
    api = client_of(alice)
    person = api.ok("GET", "/api/people")["people"][0]
    api.ok("PUT", f"/api/people/{person['id']}", {"nickname": "Nick"})
    tokens = [device.sync() for device in devices]
    assert len(tokens) == 5
    assert FormerText.objects.owned_by(alice).count() == 1
    for device in devices:
        device.sync("", "d:getetag", "card:address-data")
    assert FormerText.objects.owned_by(alice).count() == 0
    stored = BookCard.objects.owned_by(alice).aggregate(size=Sum(Length("text")))["size"]
    assert stored < 300 * 400


def test_many_new_people_are_read_in_short_transactions(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    from dav.cards import refresh as module

    make_people(alice, 450)
    sizes: list[int] = []

    def counted(owner: User, changes: list[object]) -> list[object]:
        sizes.append(len(changes))
        return store(owner, changes)  # type: ignore[arg-type, return-value]

    monkeypatch.setattr(module, "store", counted)
    assert len(Device(alice).sync().entries) == 450
    assert max(sizes) <= 200
    assert sum(sizes) == 450


def test_a_refresh_that_was_killed_goes_on_where_it_was(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    from dav.cards import refresh as module

    make_people(alice, 450)
    calls = [0]

    def killed(owner: User, changes: list[object]) -> list[object]:
        calls[0] += 1
        if calls[0] == 2:
            raise KeyboardInterrupt
        return store(owner, changes)  # type: ignore[arg-type, return-value]

    device = Device(alice)
    monkeypatch.setattr(module, "store", killed)
    with pytest.raises(KeyboardInterrupt):
        device.sync()
    assert BookCard.objects.owned_by(alice).count() == 200
    assert len(device.sync().entries) == 450


def test_the_first_fetch_reads_in_batches(alice: User) -> None:
    make_people(alice, 500)
    device = Device(alice)
    device.sync()
    body = (
        f"<d:sync-collection {DECLARED}><d:sync-token/><d:sync-level>1</d:sync-level>"
        "<d:prop><d:getetag/><card:address-data/></d:prop></d:sync-collection>"
    )
    response = device.call("REPORT", device.book, body)
    pieces = [len(piece) for piece in response.streaming_content]
    assert len(pieces) > 10
    assert max(pieces) < 20_000


def test_an_idle_sync_is_one_statement_again_once_a_refusal_is_acknowledged(alice: User) -> None:
    device = Device(alice)
    device.put("a.vcf", card("NOTE:one"))
    token = device.sync().token
    assert device.put("a.vcf", "no card").status_code == 403
    answer = device.sync(token, "d:getetag", "card:address-data")
    assert len(answer.entries) == 1
    for ask in (
        partial(device.sync, answer.token),
        partial(device.propfind, device.book, "cs:getctag", "d:sync-token"),
    ):
        ask()
        assert count_queries(ask) == 1
    assert device.sync(answer.token).entries == {}
    # With the next change of the card it is as for everybody, and nothing is remembered of the refusal.
    assert ListedAgain.objects.owned_by(alice).count() == 1
    person = Person.objects.owned_by(alice).get()
    client_of(alice).ok("PUT", f"/api/people/{person.pk}", {"notes": "other"})
    changed = device.sync(answer.token, "d:getetag", "card:address-data")
    assert len(changed.entries) == 1
    assert not ListedAgain.objects.owned_by(alice).exists()
    assert device.sync(changed.token).entries == {}


@pytest.mark.parametrize("end", ["\r\n", "\n"])
@pytest.mark.parametrize("side", [1, 2, 3, 7, 20, 40, 41, 300])
def test_lengths_open_no_pictures_and_are_those_of_get(
    alice: User, monkeypatch: pytest.MonkeyPatch, side: int, end: str
) -> None:
    device = Device(alice)
    line = photo_line(encoded(Image.effect_noise((side, side), 80).convert("RGB"))).removesuffix("\r\n")
    device.put("a.vcf", card("NOTE:\u00e9t\u00e9", line).replace("\r\n", end))
    named = card(f"item1.X-ABLabel:x{'y' * side}", f"item1.{line}").replace("u-1", "u-2").replace("Ada", "B")
    device.put("b.vcf", named)
    device.put("c.vcf", card().replace("u-1", "u-3").replace("Ada", "C"))
    expected = {f"{device.book}{name}.vcf": len(device.get(f"{name}.vcf").content) for name in "abc"}
    assert expected[f"{device.book}a.vcf"] > 0.9 * len(line)

    def opened(text: str, photo: str) -> str:
        assert not photo, "a picture is read"
        return text

    monkeypatch.setattr(book, "with_photo", opened)
    listed = device.propfind(device.book, "d:getcontentlength", depth="1").entries
    assert {href: int(listed[href].text("d:getcontentlength")) for href in expected} == expected
    synced = device.sync("", "d:getcontentlength").entries
    assert {href: int(entry.text("d:getcontentlength")) for href, entry in synced.items()} == expected


def test_puts_cost_the_same_in_a_large_book(alice: User) -> None:
    """Nor does a device read its own writes again before the next one."""
    device, costs = Device(alice), []
    device.put("a.vcf", card("NOTE:zero"))
    for start, number in ((0, 3), (3, 300)):
        make_people(alice, number, start)
        device.sync()

        def create(name: str) -> None:
            new = card().replace("u-1", name).replace("Ada", name)
            assert device.put(f"{name}.vcf", new, HTTP_IF_NONE_MATCH="*").status_code == 201

        def change(note: str) -> None:
            assert device.put("a.vcf", card(f"NOTE:{note}")).status_code == 204

        create(f"first-{number}")
        change(f"first-{number}")
        costs.append([count_queries(partial(create, f"new-{number}")), count_queries(partial(change, f"new-{number}"))])
    assert costs[0] == costs[1]
    # With the savepoint in which a test has the transaction, and the count of the account's bytes.
    assert costs[0][0] <= 12
    assert costs[0][1] <= 19
    assert len(device.sync("", "d:getetag", "card:address-data").entries) == 308
    assert Book.objects.owned_by(alice).get().read_revision == User.objects.get(pk=alice.pk).revision


def test_a_put_that_changes_others_leaves_them_to_the_next_request(alice: User) -> None:
    first, second = Device(alice), Device(alice)
    second.put("a.vcf", card("CATEGORIES:Friends"))
    token = first.sync().token
    # Another device's write in between is read, too, although the one after it changes one person alone.
    client_of(alice).ok("PUT", f"/api/people/{Person.objects.owned_by(alice).get().pk}", {"nickname": "Nick"})
    second.put("b.vcf", card("CATEGORIES:Friends").replace("u-1", "u-2").replace("Ada", "Bob"))
    assert len(first.sync(token).entries) == 2
    assert "NICKNAME:Nick" in first.text("a.vcf")


def test_a_put_parses_each_text_once(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device(alice)
    device.put("a.vcf", card("NOTE:one", "X-FREE:1"))
    etag = device.get("a.vcf")["ETag"]
    parsed: list[str] = []

    def counted(text: str) -> Any:
        parsed.append(text)
        return parse_lines(text)

    monkeypatch.setattr(parser, "parse_lines", counted)
    changed = card("NOTE:two", "X-FREE:1")
    assert device.put("a.vcf", changed, HTTP_IF_MATCH=etag).status_code == 204
    assert sorted(parsed) == sorted([changed, card("NOTE:one", "X-FREE:1")])
    parsed.clear()
    new = card("NOTE:new").replace("u-1", "u-2").replace("Ada", "Bea")
    assert device.put("b.vcf", new, HTTP_IF_NONE_MATCH="*").status_code == 201
    assert parsed == [new]
