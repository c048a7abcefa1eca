"""Group cards: members in the same file, in a later one, in other letter case, or nowhere."""

import itertools
from typing import Any

import pytest

from people.importing import groups
from people.models import AwaitedMember
from people.vcard.card import uid_key, uid_spellings
from tests.builders import set_plan_limits
from tests.client import Client
from tests.people.importing.uploads import counts, import_vcards, send_form, vcard
from tests.people.steps import create_person, list_people

pytestmark = pytest.mark.sqlite_suffices

ADA, BOB = "0f6a3c5e-8d1b-4c2a-9e7f-1a2b3c4d5e6f", "7b9c1d2e-3f40-4a5b-8c6d-7e8f90a1b2c3"


def group_card(name: str, *members: str) -> bytes:
    return vcard(f"FN:{name}", f"UID:group-{name}", "KIND:group", *(f"MEMBER:{uid}" for uid in members), version="4.0")


def members_of(api: Client) -> dict[str, list[str]]:
    """The names of the members of each group."""
    people = list_people(api)
    groups = api.ok("GET", "/api/groups")["groups"]
    return {
        group["name"]: sorted(person["name"] for person in people if group["id"] in person["groupIds"])
        for group in groups
    }


def remark(result: Any, code: str) -> Any:
    """The remark with this code in the result of a card; None if there is none."""
    alone = [result] if "code" in result else []
    return next((one for one in result.get("remarks", alone) if one["code"] == code), None)


SPELLINGS = [ADA, ADA.upper(), f"urn:uuid:{ADA}", f"urn:uuid:{ADA.upper()}", f"URN:UUID:{ADA}", ADA.replace("-", "")]


@pytest.mark.parametrize(("uid", "member"), itertools.permutations(SPELLINGS, 2))
def test_uids_are_compared_as_uuids(api: Client, uid: str, member: str) -> None:
    import_vcards(api, vcard(f"UID:{uid}", "FN:Ada"))
    [result] = import_vcards(api, group_card("Friends", member))["results"]
    assert (result["status"], result["code"]) == ("skipped", "card_is_a_group")
    assert members_of(api) == {"Friends": ["Ada"]}
    assert counts(import_vcards(api, vcard(f"UID:{member}", "FN:Ada")))[0] == 0, "the same card in the other spelling"


@pytest.mark.parametrize(("uid", "member"), itertools.permutations(SPELLINGS, 2))
def test_a_member_in_a_later_file_joins_then(api: Client, uid: str, member: str) -> None:
    [result] = import_vcards(api, group_card("Friends", member, BOB))["results"]
    awaited = remark(result, "group_members_awaited")
    assert awaited["params"] == {"count": 2, "members": [member, BOB]}
    assert member in awaited["text"]
    assert members_of(api) == {"Friends": []}
    assert counts(import_vcards(api, vcard(f"UID:{uid}", "FN:Ada") + vcard("UID:other", "FN:Cy"))) == (2, 0, 0, 0)
    assert members_of(api) == {"Friends": ["Ada"]}
    [result] = import_vcards(api, group_card("Friends", member, BOB))["results"]
    assert remark(result, "group_members_awaited")["params"]["members"] == [BOB]


def test_other_uids_are_compared_with_their_letter_case(api: Client) -> None:
    import_vcards(api, vcard("UID:ada", "FN:Ada"))
    [result] = import_vcards(api, group_card("Friends", "URN:UUID:ada", "ADA"))["results"]
    assert remark(result, "group_members_awaited")["params"] == {"count": 1, "members": ["ADA"]}
    assert members_of(api) == {"Friends": ["Ada"]}


def test_mixed_letter_case_within_a_file(api: Client) -> None:
    mixed = ADA[:18].upper() + ADA[18:]
    import_vcards(api, vcard(f"UID:{mixed}", "FN:Ada") + vcard(f"UID:{ADA}", "FN:Ada") + group_card("Friends", mixed))
    assert members_of(api) == {"Friends": ["Ada"]}


def test_a_person_made_here_is_found_by_its_uid(api: Client) -> None:
    person_id = create_person(api, "Ada")
    import_vcards(api, group_card("Friends", f"urn:uuid:{person_id.upper()}"))
    assert members_of(api) == {"Friends": ["Ada"]}


def test_an_empty_group_is_made_once(api: Client) -> None:
    for _ in range(2):
        [result] = import_vcards(api, group_card("Empty"))["results"]
        assert (result["status"], result["params"]) == ("skipped", {"count": 0})
        assert members_of(api) == {"Empty": []}


def test_a_second_import_changes_nothing(api: Client) -> None:
    data = group_card("Friends", ADA, BOB) + vcard(f"UID:{ADA}", "FN:Ada")
    import_vcards(api, data)
    before = api.call("GET", "/api/groups")["ETag"], api.call("GET", "/api/people")["ETag"]
    assert counts(import_vcards(api, data)) == (0, 0, 2, 0)
    assert (api.call("GET", "/api/groups")["ETag"], api.call("GET", "/api/people")["ETag"]) == before
    assert AwaitedMember.unscoped.count() == 1


@pytest.mark.both_databases
def test_members_named_by_an_address_are_not_waited_for(api: Client) -> None:
    members = ("mailto:ada@example.org", "x" * 300)
    [result] = import_vcards(api, group_card("Friends", *members))["results"]
    assert remark(result, "group_members_not_found")["params"] == {"count": 2, "members": [members[0], "x" * 100]}
    assert remark(result, "group_members_awaited") is None
    assert not AwaitedMember.unscoped.exists()


@pytest.mark.both_databases
def test_the_first_members_that_were_not_found_are_named(api: Client) -> None:
    [result] = import_vcards(api, group_card("Friends", *(f"u{number}" for number in range(30))))["results"]
    awaited = remark(result, "group_members_awaited")["params"]
    assert (awaited["count"], awaited["members"]) == (30, [*(f"u{number}" for number in range(20)), "…"])


@pytest.mark.both_databases
def test_how_many_members_are_waited_for_is_bounded(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "MAX_AWAITED", 3)
    data = group_card("A", "u1", "u2") + group_card("B", "u3", "u4")
    for _ in range(2):
        _, second = import_vcards(api, data)["results"]
        assert remark(second, "group_members_awaited")["params"]["members"] == ["u3"]
        assert remark(second, "group_members_not_found")["params"]["members"] == ["u4"]
        assert AwaitedMember.unscoped.count() == 3


@pytest.mark.both_databases
def test_a_group_of_many_members_is_written_in_batches(api: Client) -> None:
    cards = b"".join(vcard(f"UID:u{number}", f"FN:P{number}") for number in range(230))
    import_vcards(api, group_card("All", *(f"u{number}" for number in range(230))) + cards)
    assert len(members_of(api)["All"]) == 230


def test_a_member_waits_for_no_group_in_the_trash(api: Client) -> None:
    import_vcards(api, group_card("Friends", ADA))
    [group] = api.ok("GET", "/api/groups")["groups"]
    api.ok("DELETE", f"/api/groups/{group['id']}")
    import_vcards(api, vcard(f"UID:{ADA}", "FN:Ada"))
    assert members_of(api) == {}


def test_nobody_joins_the_groups_of_another_account(api: Client, stranger: Client) -> None:
    import_vcards(api, group_card("Friends", ADA))
    import_vcards(stranger, vcard(f"UID:{ADA}", "FN:Ada"))
    assert members_of(stranger) == {}
    assert AwaitedMember.unscoped.count() == 1
    import_vcards(api, vcard(f"UID:{ADA}", "FN:Ada"))
    assert members_of(api) == {"Friends": ["Ada"]}


def test_a_plan_without_room_for_the_group_is_told(api: Client, settings: Any) -> None:
    set_plan_limits(settings, people=5, groups=1)
    data = group_card("A", ADA) + group_card("B", ADA)
    _, second = import_vcards(api, data)["results"]
    assert remark(second, "group_over_plan")
    import_vcards(api, vcard(f"UID:{ADA}", "FN:Ada"))
    assert members_of(api) == {"A": ["Ada"]}


def test_a_person_that_the_plan_refuses_is_waited_for_further(api: Client, settings: Any) -> None:
    set_plan_limits(settings, people=1, groups=5)
    import_vcards(api, group_card("Friends", ADA, BOB))
    assert counts(import_vcards(api, vcard("UID:cy", "FN:Cy") + vcard(f"UID:{ADA}", "FN:Ada"))) == (1, 0, 0, 1)
    assert AwaitedMember.unscoped.count() == 2


def test_keys_and_spellings_of_uids() -> None:
    assert {uid_key(spelling) for spelling in SPELLINGS} == {ADA}
    assert uid_key(f" URN:UUID:{ADA} ") == ADA
    assert [uid_key(uid) for uid in ("Ada", "urn:uuid:Ada", ADA[:-1])] == ["Ada", "Ada", ADA[:-1]]
    for spelling in SPELLINGS:
        assert {ADA, ADA.upper(), f"urn:uuid:{ADA}", f"URN:UUID:{ADA.upper()}", spelling} <= set(
            uid_spellings(spelling)
        )


def test_two_people_with_one_uid_join_the_groups_that_wait_and_are_not_doubled(api: Client) -> None:
    """The second card of a UID is the same contact only if it adds nothing: a group that waits is nothing it adds."""
    cards = vcard(f"UID:{ADA}", "FN:Ada") + vcard(f"UID:{ADA}", "FN:Bob")
    import_vcards(api, cards)
    keys = [person["id"] for person in list_people(api)]
    for key in keys:
        api.ok("DELETE", f"/api/people/{key}")
    import_vcards(api, group_card("Friends", ADA))
    for key in keys:
        api.ok("POST", f"/api/people/{key}/restore")
    assert members_of(api) == {"Friends": []}
    assert counts(import_vcards(api, cards)) == (0, 2, 0, 0)
    assert members_of(api) == {"Friends": ["Ada", "Bob"]}
    assert not AwaitedMember.unscoped.exists()
    assert counts(import_vcards(api, cards)) == (0, 0, 2, 0)
    assert len(list_people(api)) == 2


def test_a_file_with_groups_to_join_and_groups_that_wait_puts_a_person_into_each_once(api: Client) -> None:
    import_vcards(api, group_card("Friends", ADA))
    [group] = api.ok("GET", "/api/groups")["groups"]
    card = vcard(f"UID:{ADA}", "FN:Ada", "CATEGORIES:friends")
    receipt = send_form(api, "/api/vcard/import", card, "a.vcf", groupIds=f'["{group["id"]}"]').json()
    assert counts(receipt) == (1, 0, 0, 0)
    assert members_of(api) == {"Friends": ["Ada"]}
