"""The waiting list of a share: what is in it, and each answer to it."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from people.models import MergeRecord
from people.services.people import delete_people
from sharing.carry.carrier import carry_account
from sharing.carry.sweep import wake_for_room
from sharing.models import CopyState, Share
from tests.builders import UNKNOWN_ID, make_keys, make_person, make_token, set_plan_limits
from tests.client import Client, client_of
from tests.sharing.conftest import (
    add_person,
    carry_all,
    copy_of,
    edit,
    group_people,
    join_share,
    leave_group,
    person_of,
    put_into_group,
    share_people,
)

PHONE = {"type": "mobile", "number": "+43 660 1112223"}


@pytest.fixture
def bobs(bob: User) -> Client:
    """Bob's API client. What he reads has the names that others share with him."""
    client = client_of(bob)
    client.reader = None
    return client


def waiting_of(client: Client, share: Share, query: str = "") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = client.ok("GET", _path(share) + query)["waiting"]
    return rows


def _path(share: Share) -> str:
    return f"/api/shares/{share.pk}/waiting"


def answer(client: Client, share: Share, *items: dict[str, Any], **more: Any) -> dict[str, Any]:
    body = {**({"items": list(items)} if items else {}), **more}
    answered: dict[str, Any] = client.ok("POST", _path(share), body)
    return answered


def _review(alice: User, bob: User) -> Share:
    """Bob reviews a share in which Alice has Ada, whom he has as well, Ben, and Cy, who may be one of his."""
    share = share_people(alice)
    add_person(alice, name="Ada", surname="Lovelace", emails=[{"type": None, "email": "ada@example.org"}])
    add_person(alice, name="Ben", surname="Nevis")
    carry_all()
    join_share(share, bob, reviewed=False)
    return share


def test_a_review_waits_for_answers(alice: User, bob: User, bobs: Client) -> None:
    share = share_people(alice)
    ada = add_person(alice, surname="Lovelace", uid="ada@nextcloud")
    add_person(alice, name="Ben", surname="Nevis")
    own = make_person(bob, name="Addie", uid="ada@nextcloud")
    carry_all()
    join_share(share, bob, reviewed=False)
    carry_all()
    rows = waiting_of(bobs, share)
    shared_id = str(copy_of(bob, ada).shared_id)
    assert rows[0] == {
        "sharedId": shared_id,
        "name": "Ada Lovelace",
        "photo": None,
        "reason": "proposed",
        "personId": str(own.pk),
        "by": "Alice",
        "at": rows[0]["at"],
    }
    assert (rows[1]["name"], rows[1]["reason"], "personId" in rows[1]) == ("Ben Nevis", "proposed", False)
    assert bobs.ok("GET", f"/api/shares/{share.pk}")["share"]["waitingCount"] == 2
    assert group_people(bob) == []
    assert answer(bobs, share, {"sharedId": shared_id, "action": "accept"}) == {"done": 1, "errors": []}
    own.refresh_from_db()
    assert (own.name, own.surname) == ("Addie", "Lovelace")
    assert group_people(bob) == ["Addie"]
    assert answer(bobs, share, all="accept") == {"done": 1, "errors": []}
    assert group_people(bob) == ["Addie", "Ben"]
    assert waiting_of(bobs, share) == []
    assert bobs.ok("GET", f"/api/shares/{share.pk}")["share"]["waitingCount"] == 0


def test_nobody_of_ones_own_goes_out_before_the_review_is_finished(alice: User, bob: User, bobs: Client) -> None:
    share = share_people(alice)
    join_share(share, bob, reviewed=False)
    add_person(bob, name="Own")
    carry_all()
    assert group_people(alice) == []
    assert answer(bobs, share, finish=True) == {"done": 0, "errors": []}
    carry_all()
    assert group_people(alice) == ["Own"]


def test_whom_an_open_item_names_stays_at_home_until_it_is_answered(alice: User, bob: User, bobs: Client) -> None:
    share = share_people(alice)
    ada = add_person(alice, surname="Lovelace", uid="ada@nextcloud")
    carry_all()
    join_share(share, bob, reviewed=False)
    own = make_person(bob, name="Addie", uid="ada@nextcloud")
    put_into_group(bob, own)
    add_person(bob, name="Zed")
    carry_all()
    answer(bobs, share, finish=True)
    carry_all()
    assert group_people(alice) == ["Ada", "Zed"]
    assert [row["name"] for row in waiting_of(bobs, share)] == ["Ada Lovelace"]
    answer(bobs, share, {"sharedId": str(copy_of(bob, ada).shared_id), "action": "skip"})
    carry_all()
    assert group_people(alice) == ["Ada", "Addie", "Zed"]


def test_unsure_names_candidates_and_is_linked_or_made(alice: User, bob: User, bobs: Client) -> None:
    share = share_people(alice, bob)
    own = [make_person(bob, name="Ada", surname="Lovelace", phone_numbers=[{"id": UNKNOWN_ID, **PHONE}]) for _ in "ab"]
    make_keys(bob, own)
    ada = add_person(alice, surname="Lovelace", phone_numbers=[PHONE])
    carry_all()
    (row,) = waiting_of(bobs, share)
    assert (row["reason"], row["name"], row["by"]) == ("unsure", "Ada Lovelace", "Alice")
    assert {one["personId"] for one in row["candidates"]} == {str(one.pk) for one in own}
    assert all(one["personName"] == "Ada Lovelace" and 0.75 <= one["score"] <= 1 for one in row["candidates"])
    item = {"sharedId": row["sharedId"], "action": "link", "personId": str(own[1].pk)}
    assert answer(bobs, share, item) == {"done": 1, "errors": []}
    assert copy_of(bob, ada).person_id == own[1].pk
    assert [one["code"] for one in answer(bobs, share, item)["errors"]] == ["invalid_action"]


def test_who_is_skipped_can_be_taken_in_later(alice: User, bob: User, bobs: Client) -> None:
    share = _review(alice, bob)
    carry_all()
    assert answer(bobs, share, all="skip") == {"done": 2, "errors": []}
    assert waiting_of(bobs, share) == []
    skipped = waiting_of(bobs, share, "?skipped=true")
    assert [(row["name"], row["reason"]) for row in skipped] == [("Ada Lovelace", None), ("Ben Nevis", None)]
    answer(bobs, share, finish=True)
    carry_all()
    assert group_people(bob) == []
    own = make_person(bob, name="Benjamin")
    assert answer(
        bobs,
        share,
        {"sharedId": skipped[0]["sharedId"], "action": "create"},
        {"sharedId": skipped[1]["sharedId"], "action": "link", "personId": str(own.pk)},
    ) == {"done": 2, "errors": []}
    assert group_people(bob) == ["Ada", "Benjamin"]
    assert waiting_of(bobs, share, "?skipped=true") == []


def test_errors_are_of_their_items(alice: User, bob: User, mallory: User, bobs: Client) -> None:
    share = _review(alice, bob)
    carry_all()
    ada, ben = (row["sharedId"] for row in waiting_of(bobs, share))
    foreign = make_person(mallory, name="Theirs")
    answered = answer(
        bobs,
        share,
        {"sharedId": UNKNOWN_ID, "action": "create"},
        {"sharedId": "no id", "action": "skip"},
        {"sharedId": ada, "action": "keep"},
        {"sharedId": ada, "action": "link", "personId": str(foreign.pk)},
        {"sharedId": ada, "action": "link"},
        {"sharedId": ada, "action": "create"},
        {"sharedId": ada, "action": "create"},
        {"sharedId": ben, "action": "create"},
    )
    assert answered["done"] == 2
    codes = [(one["sharedId"], one["code"]) for one in answered["errors"]]
    assert codes == [
        (UNKNOWN_ID, "not_found"),
        ("no id", "not_found"),
        (ada, "invalid_action"),
        (ada, "not_found"),
        (ada, "not_found"),
        (ada, "invalid_action"),
    ]
    assert all(one["error"] for one in answered["errors"])
    assert group_people(bob) == ["Ada", "Ben"]


def test_one_person_is_one_shared_person(alice: User, bob: User, bobs: Client) -> None:
    share = _review(alice, bob)
    carry_all()
    ada, ben = (row["sharedId"] for row in waiting_of(bobs, share))
    own = str(make_person(bob, name="Somebody").pk)
    items = [{"sharedId": key, "action": "link", "personId": own} for key in (ada, ben)]
    answered = answer(bobs, share, *items)
    assert (answered["done"], [one["code"] for one in answered["errors"]]) == (1, ["already_linked"])
    assert [row["sharedId"] for row in waiting_of(bobs, share)] == [ben]


@pytest.mark.parametrize("action", ["keep", "remove"])
def test_somebody_who_was_taken_out(alice: User, bob: User, carol: User, bobs: Client, action: str) -> None:
    share = share_people(alice, bob, carol)
    ada = add_person(alice, surname="Lovelace")
    carry_all()
    leave_group(alice, ada)
    carry_all()
    (row,) = waiting_of(bobs, share)
    own = person_of(bob, ada)
    assert (row["reason"], row["by"], row["personId"]) == ("taken_out", "Alice", str(own.pk))
    assert bobs.ok("GET", f"/api/shares/{share.pk}")["share"]["waitingCount"] == 1
    for wrong in ("accept", "link", "create", "skip"):
        item = {"sharedId": row["sharedId"], "action": wrong, "personId": str(own.pk)}
        assert [one["code"] for one in answer(bobs, share, item)["errors"]] == ["invalid_action"]
    assert answer(bobs, share, {"sharedId": row["sharedId"], "action": action})["done"] == 1
    carry_all()
    assert waiting_of(bobs, share) == []
    own.refresh_from_db()
    is_kept = action == "keep"
    assert (own.deleted_at is None, group_people(bob) == ["Ada"]) == (is_kept, is_kept)
    edit(carol, person_of(carol, ada), nickname="A")
    carry_all()
    own.refresh_from_db()
    assert own.nickname == ("A" if is_kept else None)


def asked_by(client: Client, share: Share) -> list[tuple[str, str]]:
    return [(row["reason"], row["by"]) for row in waiting_of(client, share)]


def test_one_of_two_takes_a_taking_out_back(alice: User, bob: User, carol: User) -> None:
    share = share_people(alice, bob, carol)
    ada = add_person(alice)
    carry_all()
    own, carols = person_of(bob, ada), api_of(carol)
    leave_group(alice, ada)
    carry_all()
    leave_group(bob, own)
    carry_all()
    assert asked_by(carols, share) == [("taken_out", "Bob")]
    put_into_group(bob, own)
    carry_all()
    assert asked_by(carols, share) == [("taken_out", "Alice")]
    assert asked_by(api_of(bob), share) == []
    assert answer(carols, share, {"sharedId": str(copy_of(carol, ada).shared_id), "action": "keep"})["done"] == 1
    leave_group(bob, own)
    carry_all()
    assert asked_by(carols, share) == [("taken_out", "Bob")]
    put_into_group(bob, own)
    carry_all()
    assert asked_by(carols, share) == []  # she has answered Alice's
    leave_group(bob, own)
    carry_all()
    put_into_group(alice, ada)
    carry_all()
    assert asked_by(carols, share) == [("taken_out", "Bob")]
    put_into_group(bob, own)
    carry_all()
    assert asked_by(carols, share) == asked_by(api_of(alice), share) == []


def test_a_merge_is_asked_about_again(alice: User, bob: User, carol: User, api: Client) -> None:
    share = share_people(alice, bob, carol)
    ada, addie = add_person(alice, surname="Lovelace"), add_person(alice, name="Addie", surname="Lovelace")
    carry_all()
    own, carols = person_of(bob, addie), api_of(carol)
    api.ok("POST", "/api/people/merge", {"primaryId": str(ada.pk), "secondaryId": str(addie.pk)})
    carry_all()
    leave_group(bob, own)
    carry_all()
    assert asked_by(carols, share) == [("taken_out", "Bob")]
    put_into_group(bob, own)
    carry_all()
    (row,) = waiting_of(carols, share)
    assert (row["reason"], row["by"]) == ("merged", "Alice")
    assert [one["personId"] for one in row["candidates"]] == [str(person_of(carol, ada).pk)]


def test_who_was_edited_here_is_removed_from_the_share_alone(alice: User, bob: User, bobs: Client) -> None:
    share = share_people(alice, bob)
    ada = add_person(alice)
    carry_all()
    own = person_of(bob, ada)
    edit(bob, own, favourite=True)
    leave_group(alice, ada)
    carry_all()
    (row,) = waiting_of(bobs, share)
    assert answer(bobs, share, {"sharedId": row["sharedId"], "action": "remove"})["done"] == 1
    carry_all()
    own.refresh_from_db()
    assert own.deleted_at is None
    assert group_people(bob) == []
    assert copy_of(bob, ada).state == CopyState.OUT


def test_a_merge_is_repeated_here(alice: User, bob: User, api: Client, bobs: Client) -> None:
    share = share_people(alice, bob)
    ada = add_person(alice, surname="Lovelace", nickname="A")
    addie = add_person(alice, name="Addie", surname="Lovelace", organization="Engine")
    carry_all()
    kept, gone = person_of(bob, ada), person_of(bob, addie)
    body = {"primaryId": str(ada.pk), "secondaryId": str(addie.pk)}
    merge_id = api.ok("POST", "/api/people/merge", body)["mergeId"]
    carry_all()
    (row,) = waiting_of(bobs, share)
    assert (row["reason"], row["personId"], row["name"]) == ("merged", str(gone.pk), "Addie Lovelace")
    assert [one["personId"] for one in row["candidates"]] == [str(kept.pk)]
    api.ok("POST", f"/api/people/merge/{merge_id}/undo")
    carry_all()
    assert waiting_of(bobs, share) == []
    api.ok("POST", "/api/people/merge", body)
    carry_all()
    (row,) = waiting_of(bobs, share)
    assert answer(bobs, share, {"sharedId": row["sharedId"], "action": "accept"}) == {"done": 1, "errors": []}
    record = MergeRecord.objects.owned_by(bob).get()
    assert (record.primary_id, record.secondary_id) == (kept.pk, gone.pk)
    carry_all()
    assert waiting_of(bobs, share) == []
    assert group_people(bob) == group_people(alice) == ["Ada"]
    assert waiting_of(api_of(alice), share) == []


def api_of(user: User) -> Client:
    client = client_of(user)
    client.reader = None
    return client


def test_a_merge_may_be_kept_apart(alice: User, bob: User, api: Client, bobs: Client) -> None:
    share = share_people(alice, bob)
    ada, addie = add_person(alice, surname="Lovelace"), add_person(alice, name="Addie", surname="Lovelace")
    carry_all()
    api.ok("POST", "/api/people/merge", {"primaryId": str(ada.pk), "secondaryId": str(addie.pk)})
    carry_all()
    (row,) = waiting_of(bobs, share)
    assert answer(bobs, share, {"sharedId": row["sharedId"], "action": "keep"})["done"] == 1
    carry_all()
    assert (waiting_of(bobs, share), group_people(bob)) == ([], ["Ada", "Addie"])


def test_the_plan_has_no_room(alice: User, bob: User, bobs: Client, settings: Any) -> None:
    share = _review(alice, bob)
    carry_all()
    set_plan_limits(settings, people=1)
    answered = answer(bobs, share, all="create")
    assert (answered["done"], [one["code"] for one in answered["errors"]]) == (1, ["plan_limit"])
    (row,) = waiting_of(bobs, share)
    assert row["reason"] == "plan_limit"
    carry_account(bob.pk)
    assert len(group_people(bob)) == 1
    settings.SAAS_MODE = False
    wake_for_room(now=timezone.now())
    carry_all()
    assert group_people(bob) == ["Ada", "Ben"]
    assert waiting_of(bobs, share) == []


def test_pages(alice: User, bob: User, bobs: Client) -> None:
    share = share_people(alice)
    for number in range(5):
        add_person(alice, name=f"P{number}")
    carry_all()
    join_share(share, bob, reviewed=False)
    carry_all()
    names, query = [], "?limit=2"
    for expected in (True, True, False):
        page = bobs.ok("GET", _path(share) + query)
        assert page["hasMore"] is expected
        assert (page["cursor"] is not None) is expected
        names += [row["name"] for row in page["waiting"]]
        query = f"?limit=2&cursor={page['cursor']}"
    assert names == [f"P{number}" for number in range(5)]
    for query in ("?limit=0", "?limit=x", "?cursor=x", "?skipped=maybe"):
        bobs.ok("GET", _path(share) + query, status=400)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"items": []},
        {"items": [{"sharedId": UNKNOWN_ID, "action": "no"}]},
        {"items": [{"action": "skip"}]},
        {"items": [{"sharedId": UNKNOWN_ID, "action": "skip"}] * 501},
        {"all": "everything"},
        {"finish": "yes"},
    ],
)
def test_bodies_that_are_refused(alice: User, bob: User, bobs: Client, body: dict[str, Any]) -> None:
    share = share_people(alice, bob)
    assert bobs.ok("POST", _path(share), body, status=400)["code"] == "invalid"


def test_five_hundred_answers(alice: User, bob: User, bobs: Client) -> None:
    share = share_people(alice, bob)
    answered = answer(bobs, share, *({"sharedId": UNKNOWN_ID, "action": "skip"} for _ in range(500)))
    assert (answered["done"], len(answered["errors"])) == (0, 500)


def test_strangers_and_former_members(alice: User, bob: User, bobs: Client, stranger: Client) -> None:
    share = share_people(alice, bob)
    for client, path in ((stranger, _path(share)), (bobs, f"/api/shares/{UNKNOWN_ID}/waiting")):
        client.ok("GET", path, status=404)
        client.ok("POST", path, {"finish": True}, status=404)
    bobs.ok("DELETE", f"/api/shares/{share.pk}/membership")
    bobs.ok("GET", _path(share), status=404)
    bobs.ok("POST", _path(share), {"finish": True}, status=404)


def test_a_read_token_may_look(alice: User, bob: User) -> None:
    share = share_people(alice, bob)
    client = Client()
    client.bearer = make_token(bob, "READ")
    assert client.ok("GET", _path(share))["waiting"] == []
    client.ok("POST", _path(share), {"finish": True}, status=403)


def test_of_somebody_in_the_trash_nothing_is_proposed(alice: User, bob: User, bobs: Client) -> None:
    share = share_people(alice)
    ada = add_person(alice, surname="Lovelace", uid="ada@nextcloud")
    own = make_person(bob, name="Addie", uid="ada@nextcloud")
    carry_all()
    join_share(share, bob, reviewed=False)
    carry_all()
    delete_people(owner=bob, person_ids=[own.pk], options={}, now=timezone.now())
    (row,) = waiting_of(bobs, share)
    assert "personId" not in row
    item = {"sharedId": row["sharedId"], "action": "accept"}
    assert [one["code"] for one in answer(bobs, share, item)["errors"]] == ["not_found"]
    assert answer(bobs, share, {**item, "action": "create"})["done"] == 1
    assert copy_of(bob, ada).person_id == own.pk  # out of the trash


def test_the_latest_who_took_somebody_out(alice: User, bob: User, carol: User, bobs: Client) -> None:
    share = share_people(alice, bob, carol)
    ada = add_person(alice)
    carry_all()
    leave_group(carol, person_of(carol, ada))
    carry_all()
    leave_group(alice, ada)
    carry_all()
    assert [(row["reason"], row["by"]) for row in waiting_of(bobs, share)] == [("taken_out", "Alice")]


def test_a_full_share_lets_people_wait_with_their_member(
    alice: User, bob: User, bobs: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    share = share_people(alice, bob)
    monkeypatch.setattr("sharing.carry.outgoing.MAX_PEOPLE", 1)
    add_person(alice, name="Ada")
    carry_all()
    ben = add_person(bob, name="Ben", surname="Nevis")
    carry_all()
    (row,) = waiting_of(bobs, share)
    assert (row["name"], row["reason"], row["personId"], row["by"]) == ("Ben Nevis", "share_limit", str(ben.pk), None)
    assert waiting_of(api_of(alice), share) == []
    for action in ("accept", "create", "skip", "keep", "remove"):
        item = {"sharedId": row["sharedId"], "action": action}
        assert [one["code"] for one in answer(bobs, share, item)["errors"]] == ["invalid_action"]
    monkeypatch.setattr("sharing.carry.outgoing.MAX_PEOPLE", 2)
    edit(bob, ben, nickname="B")
    carry_all()
    assert waiting_of(bobs, share) == []
    assert group_people(alice) == ["Ada", "Ben"]


def test_newcomers_wait_until_the_review_is_finished(alice: User, bob: User, bobs: Client) -> None:
    share = _review(alice, bob)
    carry_all()
    answer(bobs, share, all="skip")
    add_person(alice, name="Cy")
    carry_all()
    assert [(row["name"], row["reason"]) for row in waiting_of(bobs, share)] == [("Cy", "proposed")]
    answer(bobs, share, finish=True)
    carry_all()
    assert [row["name"] for row in waiting_of(bobs, share)] == ["Cy"]
    add_person(alice, name="Dora")
    carry_all()
    assert group_people(bob) == ["Dora"]


def test_whoever_asks_is_asked(alice: User, bob: User, bobs: Client) -> None:
    share = share_people(alice)
    join_share(share, bob, newcomers="ask")
    add_person(alice, name="Ada")
    carry_all()
    assert [(row["name"], row["reason"]) for row in waiting_of(bobs, share)] == [("Ada", "proposed")]


@pytest.mark.one_database
def test_a_page_costs_as_many_queries_with_many_people(alice: User, bob: User, bobs: Client) -> None:
    share = share_people(alice)
    numbers = []
    for start, end in ((0, 1), (1, 30)):
        for number in range(start, end):
            add_person(alice, name=f"P{number}", uid=f"{number}@nextcloud")
            make_person(bob, name=f"P{number}", uid=f"{number}@nextcloud")
        carry_all()
        if not start:
            join_share(share, bob, reviewed=False)
        carry_all()
        with CaptureQueriesContext(connection) as queries:
            assert len(waiting_of(bobs, share)) == end
        numbers.append(len(queries))
    assert numbers[0] == numbers[1]
