"""What a device may not see, change or delete: other accounts, and the people outside of its selection."""

from collections.abc import Iterator
from typing import Any

import pytest

from accounts.models import User
from contacts_project.kernel.invariants import find_violations
from dav.models import BookCard, GivenCard
from people.models import Person
from tests.client import client_of
from tests.concurrency import run_concurrently
from tests.dav.devices import DECLARED, Device, card, person_of, signed_in
from tests.dav.test_calendars import make_born, make_friend
from tests.dav.test_selection import configure, make_group

# The doctor looks at the rows of the schedule, too.
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("schedule")]

SECRET = "secret"


def people_of(user: User) -> list[tuple[Any, ...]]:
    return list(Person.objects.owned_by(user).order_by("id").values_list("pk", "name", "notes", "deleted_at", "uid"))


def body_of(response: Any) -> bytes:
    return b"".join(response) if response.streaming else bytes(response.content)


def spellings(path: str, user: User) -> Iterator[str]:
    """Other ways to write a path, some of which lead from one's own collection to it."""
    yield path
    yield path.rstrip("/")
    yield f"http://testserver{path}"
    yield path.replace("/", "//", 1)
    yield path.replace("-", "%2d")
    yield f"/dav/addressbooks/{user.pk}/../{path.removeprefix('/dav/addressbooks/')}"
    yield f"/dav/addressbooks/{user.pk}/contacts/%2e%2e/%2e%2e/{path.removeprefix('/dav/addressbooks/')}"


@pytest.mark.sqlite_suffices  # hundreds of requests, each of which is refused before or by a statement of other tests
def test_nothing_of_another_account_exists(alice: User, mallory: User) -> None:
    owner, thief = Device(alice), Device(mallory)
    owner.put("a.vcf", card(f"NOTE:{SECRET}"))
    api = client_of(alice)
    _, date_id = make_born(api, SECRET)
    friend = make_friend(api, SECRET)
    thief.put("mine.vcf", card("NOTE:mine").replace("u-1", "u-9"))
    before = people_of(alice)
    home = f"/dav/calendars/{alice.pk}/"
    paths = [
        *(f"{owner.book}a.vcf", owner.book, owner.book.removesuffix("contacts/"), f"/dav/principals/{alice.pk}/"),
        *(home, f"{home}dates/", f"{home}dates/{date_id}.ics", f"{home}keep-in-touch/{friend}.ics"),
    ]
    multiget = "<card:addressbook-multiget {0}><d:prop><card:address-data/></d:prop>{1}</card:addressbook-multiget>"
    events = "<cal:calendar-multiget {0}><d:prop><cal:calendar-data/></d:prop>{1}</cal:calendar-multiget>"
    own = f"/dav/calendars/{mallory.pk}/"
    for path in paths:
        for spelled in spellings(path, mallory):
            for method in ("GET", "HEAD", "PROPFIND", "REPORT", "PROPPATCH", "PUT", "DELETE", "MOVE"):
                headers = {"HTTP_DEPTH": "1", "content_type": "text/vcard", "HTTP_DESTINATION": f"{thief.book}x.vcf"}
                answer = thief.call(method, spelled, card("NOTE:stolen").replace("u-1", "u-8"), **headers)
                assert answer.status_code in {301, 400, 403, 404, 405}, (method, spelled, answer.status_code)
                assert SECRET.encode() not in body_of(answer)
            hrefs = f"<d:href>{spelled}</d:href>"
            for where, body in ((thief.book, multiget), (f"{own}dates/", events), (f"{own}keep-in-touch/", events)):
                text = body_of(thief.call("REPORT", where, body.format(DECLARED, hrefs)))
                assert SECRET.encode() not in text
                assert b"404 Not Found" in text
    # Nor does a card of one's own go there.
    moved = thief.call("MOVE", f"{thief.book}mine.vcf", HTTP_DESTINATION=f"{owner.book}mine.vcf")
    assert moved.status_code == 404
    assert people_of(alice) == before
    assert list(Person.objects.owned_by(mallory).values_list("uid", flat=True)) == ["u-9"]


def test_a_password_of_one_account_with_the_name_of_another(alice: User, mallory: User) -> None:
    import base64

    thief = Device(mallory)
    for name in (alice.email, str(alice.pk), "", f"{mallory.email}:"):
        login = base64.b64encode(f"{name}:{thief.token}".encode()).decode()
        answer = thief.call("PROPFIND", thief.book, HTTP_DEPTH="0", HTTP_AUTHORIZATION=f"Basic {login}")
        assert answer.status_code == 401


def test_a_reader_changes_nothing(alice: User) -> None:
    device, reader = Device(alice), Device(alice, "READ")
    device.put("a.vcf", card("NOTE:one"))
    reader.text("a.vcf")
    friend = make_friend(client_of(alice), "Ann")
    before, tasks = people_of(alice), f"/dav/calendars/{alice.pk}/keep-in-touch/"
    tick = "BEGIN:VCALENDAR\r\nBEGIN:VTODO\r\nUID:x\r\nSUMMARY:Ann\r\nSTATUS:COMPLETED\r\nEND:VTODO\r\nEND:VCALENDAR"
    for method, path, body in (
        ("PUT", f"{reader.book}a.vcf", card("NOTE:two")),
        ("PUT", f"{reader.book}new.vcf", card("NOTE:two").replace("u-1", "u-2")),
        ("DELETE", f"{reader.book}a.vcf", ""),
        ("MOVE", f"{reader.book}a.vcf", ""),
        ("PUT", f"{tasks}{friend}.ics", tick),
        ("PUT", f"{tasks}x.ics", tick),
    ):
        headers = {"content_type": "text/vcard", "HTTP_DESTINATION": f"{reader.book}b.vcf"}
        answer = reader.call(method, path, body, **headers)
        assert answer.status_code == 403
        assert b"need-privileges" in answer.content
    assert people_of(alice) == before
    assert client_of(alice).ok("GET", f"/api/people/{friend}/interactions")["interactions"] == []


@pytest.fixture
def family(alice: User) -> tuple[Device, Device]:
    """A device that gets everybody, and one that gets a group; `in.vcf` is in the group, `out.vcf` is not."""
    device, partner = Device(alice), Device(alice)
    device.put("in.vcf", card("NOTE:in").replace("u-1", "u-in").replace("Ada", "Ian"))
    device.put("out.vcf", card(f"NOTE:{SECRET}").replace("u-1", "u-out").replace("Ada", "Otto"))
    ids = dict(BookCard.objects.owned_by(alice).values_list("name", "person_id"))
    api = signed_in(alice)
    group = make_group(api, "Family", {"id": str(ids["in.vcf"])})
    configure(api, partner, book={"groupIds": [group]})
    return device, partner


def test_a_device_of_a_group_sees_and_changes_nobody_else(alice: User, family: tuple[Device, Device]) -> None:
    _, partner = family
    before = people_of(alice)
    out, book = f"{partner.book}out.vcf", partner.book
    query = (
        f"<card:addressbook-query {DECLARED}><d:prop><card:address-data/></d:prop><card:filter>"
        f'<card:prop-filter name="NOTE"/></card:filter></card:addressbook-query>'
    )
    assert set(partner.sync("", "card:address-data").entries) == {f"{book}in.vcf"}
    assert set(partner.propfind(book, "d:getetag", depth="1").entries) == {book, f"{book}in.vcf"}
    assert set(partner.ask("REPORT", book, query).entries) == {f"{book}in.vcf"}
    assert partner.multiget(out).entries[out].status == 404
    for method in ("GET", "HEAD", "PROPFIND", "DELETE", "MOVE"):
        answer = partner.call(method, out, HTTP_DEPTH="0", HTTP_DESTINATION=f"{book}x.vcf")
        assert answer.status_code == 404, method
    for headers in ({}, {"HTTP_IF_MATCH": "*"}, {"HTTP_IF_NONE_MATCH": "*"}):
        for uid in ("u-out", "u-other"):
            assert partner.put("out.vcf", card("NOTE:x").replace("u-1", uid), **headers).status_code == 404
    # A name that is taken by somebody else is not overwritten by MOVE.
    assert partner.call("MOVE", f"{book}in.vcf", HTTP_DESTINATION=out).status_code in {404, 412}
    # The UID of somebody else makes no second person, and its answer names nobody.
    conflict = partner.put("other.vcf", card("NOTE:x").replace("u-1", "u-out"))
    assert conflict.status_code == 409
    assert b"out.vcf" not in conflict.content
    assert SECRET.encode() not in conflict.content
    assert people_of(alice) == before
    assert not GivenCard.objects.owned_by(alice).filter(card__name="out.vcf", token__digest="").exists()
    assert list(find_violations()) == []


def test_the_content_of_somebody_outside_makes_somebody_new(alice: User, family: tuple[Device, Device]) -> None:
    """That there is such a person already is not told to the device, and nothing of it is taken over."""
    _, partner = family
    text = card(f"NOTE:{SECRET}").replace("u-1", "u-guess").replace("Ada", "Otto")
    assert partner.put("guess.vcf", text).status_code == 201
    assert Person.objects.owned_by(alice).filter(name="Otto").count() == 2
    assert set(partner.sync().entries) == {f"{partner.book}in.vcf", f"{partner.book}guess.vcf"}


def test_the_trash_outside_of_the_selection_stays_there(alice: User, family: tuple[Device, Device]) -> None:
    device, partner = family
    assert device.call("DELETE", f"{device.book}out.vcf").status_code == 204
    device.sync()
    answer = partner.put("again.vcf", card("NOTE:x").replace("u-1", "u-out"))
    restored = Person.objects.owned_by(alice).get(uid="u-out")
    # It comes again as a card of this device, by its UID, as section 14 says.
    assert (answer.status_code, restored.deleted_at) == (201, None)
    assert SECRET not in partner.text("again.vcf")


@pytest.mark.django_db(transaction=True)
def test_puts_beside_a_merge_the_trash_and_a_removal(alice: User) -> None:
    api, device = client_of(alice), Device(alice)
    for round_ in range(4):
        for name in ("a", "b"):
            text = card(f"NOTE:{round_}").replace("u-1", f"u-{name}{round_}").replace("Ada", f"{name}{round_}")
            assert device.put(f"{name}{round_}.vcf", text).status_code == 201
        ids = dict(BookCard.objects.owned_by(alice).values_list("name", "person_id"))
        first, second = str(ids[f"a{round_}.vcf"]), str(ids[f"b{round_}.vcf"])

        def puts(round_: int = round_) -> Any:
            found = []
            for name in ("b", "a", "b"):
                text = card("NOTE:by device", "NICKNAME:n").replace("u-1", f"u-{name}{round_}")
                found.append(device.put(f"{name}{round_}.vcf", text.replace("Ada", f"{name}{round_}")).status_code)
            return found

        def acts(round_: int = round_, first: str = first, second: str = second) -> Any:
            if round_ % 2:
                both = {"primaryId": first, "secondaryId": second}
                return [api.call("POST", "/api/people/merge", both).status_code]
            gone = api.call("DELETE", f"/api/people/{second}").status_code
            removed = api.call("DELETE", f"/api/people/{second}/permanent").status_code
            return [gone, removed]

        answers: list[Any] = run_concurrently(puts, acts)
        assert set(answers[0]) <= {201, 204, 404, 409, 412}, answers
        # The merge or the trash may come first or last, or find the person changed meanwhile; it always can be done.
        assert answers[1][0] == 200, answers
    assert list(find_violations()) == []
    shown = device.sync("", "d:getetag", "card:address-data").entries
    assert len(shown) == Person.objects.owned_by(alice).active().count()
    assert {entry.status for entry in shown.values()} == {200}


def test_a_removed_person_comes_again_as_somebody_new(alice: User) -> None:
    device, other = Device(alice), Device(alice)
    device.put("a.vcf", card(f"NOTE:{SECRET}"))
    other.text("a.vcf")
    api = client_of(alice)
    former = person_of(alice)["id"]
    api.ok("DELETE", f"/api/people/{former}")
    api.ok("DELETE", f"/api/people/{former}/permanent")
    # A device that has it still sends it as a change of what it had: there is nothing to change any more.
    assert other.put("a.vcf", card("NOTE:mine"), HTTP_IF_MATCH='"old"').status_code == 412
    assert other.put("a.vcf", card("NOTE:mine")).status_code == 201
    assert person_of(alice)["id"] != former
    assert SECRET not in other.text("a.vcf")
