"""One address for all who live there: who shares it, and one write for all of them."""

from typing import Any

import pytest

from accounts.models import User
from people.models import GeocodedAddress, Person
from people.services.shared_addresses import find_sharers
from tests.client import Client
from tests.people.steps import create_person
from tests.queries import count_queries

pytestmark = pytest.mark.django_db

HOME = {"type": "home", "streetLine1": "Hauptstraße 5", "postalCode": "1010", "locality": "Wien", "country": "AT"}
SPELLED = {
    "type": "work",
    "streetLine1": " HAUPTSTRASSE  5",
    "postalCode": "1010",
    "locality": "wien",
    "country": "Österreich",
}


def addresses(api: Client, person_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.ok("GET", f"/api/people/{person_id}")["person"]["addresses"]
    return found


def sharers(api: Client, person_id: str, index: int = 0) -> list[tuple[str, str]]:
    path = f"/api/people/{person_id}/addresses/{addresses(api, person_id)[index]['id']}/shared"
    return [(person["name"], person["entryId"]) for person in api.ok("GET", path)["people"]]


def replace(api: Client, person_id: str, to: dict[str, Any], *others: str, status: int = 200) -> Any:
    source = {"personId": person_id, "entryId": addresses(api, person_id)[0]["id"]}
    body = {"from": source, "to": to, "personIds": list(others)}
    return api.ok("POST", "/api/addresses/replace", body, status=status)


@pytest.mark.both_databases
def test_who_has_the_same_address_is_found(api: Client, stranger: Client) -> None:
    ada = create_person(api, "Ada", addresses=[HOME])
    ben = create_person(api, "Ben", addresses=[{"type": "other", "locality": "Graz"}, SPELLED])
    create_person(api, "Flat", addresses=[{**HOME, "streetLine2": "Top 2"}])
    create_person(api, "Abroad", addresses=[{**HOME, "country": "DE"}])
    create_person(stranger, "Other", addresses=[HOME])
    gone = create_person(api, "Gone", addresses=[HOME])
    api.ok("DELETE", f"/api/people/{gone}")
    assert sharers(api, ada) == [("Ben", addresses(api, ben)[1]["id"])]
    assert sharers(api, ben, 1) == [("Ada", addresses(api, ada)[0]["id"])]
    assert sharers(api, ben, 0) == []
    entry = addresses(api, ada)[0]["id"]
    stranger.ok("GET", f"/api/people/{ada}/addresses/{entry}/shared", status=404)
    api.ok("GET", f"/api/people/{ben}/addresses/{entry}/shared", status=404)


@pytest.mark.parametrize(
    "entry", [{"locality": "Wien"}, {"country": "Austria"}, {"type": "work", "streetLine1": "A 1"}]
)
def test_an_address_without_street_or_place_is_found_too(api: Client, entry: dict[str, Any]) -> None:
    ada = create_person(api, "Ada", addresses=[entry])
    create_person(api, "Ben", addresses=[entry])
    assert [name for name, _ in sharers(api, ada)] == ["Ben"]


def test_an_empty_address_is_nobodys(api: Client) -> None:
    ada = create_person(api, "Ada", addresses=[{"type": "home"}])
    create_person(api, "Ben", addresses=[{"type": "home"}])
    assert sharers(api, ada) == []


def test_one_write_gives_all_of_them_the_new_address(api: Client, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(geocoding_enabled=True)
    other = {"type": "other", "locality": "Graz"}
    people = [create_person(api, name, addresses=[other, HOME]) for name in ("Ada", "Ben")]
    ada, ben = people
    before = [addresses(api, key) for key in people]
    source = {"personId": ada, "entryId": before[0][1]["id"]}
    to = {"type": "x", "streetLine1": "Am Hof 1", "locality": "Linz"}
    revision = User.objects.get(pk=alice.pk).revision
    body = {"from": source, "to": to, "personIds": [ben, ada]}
    assert api.ok("POST", "/api/addresses/replace", body) == {"affectedCount": 2}
    assert User.objects.get(pk=alice.pk).revision == revision + 1
    empty = dict.fromkeys(("streetLine2", "postalCode", "region", "country", "latitude", "longitude"))
    for key, (first, second) in zip(people, before, strict=True):
        now = {"id": second["id"], "type": "home", "streetLine1": "Am Hof 1", "locality": "Linz", **empty}
        assert addresses(api, key) == [first, {**now, "geocodeStatus": "pending"}]
    assert GeocodedAddress.unscoped.rows().filter(text="Am Hof 1, Linz").count() == 1
    assert [name for name, _ in sharers(api, ada, 1)] == ["Ben"]


def test_who_does_not_share_it_makes_the_request_invalid(api: Client, stranger: Client) -> None:
    ada, ben = (create_person(api, name, addresses=[HOME]) for name in ("Ada", "Ben"))
    flat = create_person(api, "Flat", addresses=[{**HOME, "streetLine2": "Top 2"}])
    foreign = create_person(stranger, "Other", addresses=[HOME])
    for other in (flat, foreign):
        refused = replace(api, ada, {"locality": "Graz"}, ben, other, status=400)
        assert refused["details"][0]["field"] == "personIds.1"
    assert {addresses(api, key)[0]["locality"] for key in (ada, ben)} == {"Wien"}
    body: dict[str, Any] = {"from": {"personId": ada, "entryId": "x"}, "to": {}, "personIds": []}
    assert api.ok("POST", "/api/addresses/replace", body, status=400)["details"][0]["field"] == "from.entryId"
    body["from"]["personId"] = foreign
    assert api.ok("POST", "/api/addresses/replace", body, status=400)["details"][0]["field"] == "from.personId"


@pytest.mark.both_databases
def test_as_many_queries_for_many_people(api: Client, alice: User) -> None:
    ada = create_person(api, "Ada", addresses=[HOME])
    entry, row = addresses(api, ada)[0]["id"], Person.unscoped.rows().get(pk=ada)

    def queries() -> int:
        return count_queries(find_sharers, owner=alice, person=row, entry_id=entry)

    create_person(api, "Ben", addresses=[SPELLED])
    few = queries()
    for number in range(20):
        create_person(api, f"P{number}", addresses=[HOME])
    assert queries() == few
