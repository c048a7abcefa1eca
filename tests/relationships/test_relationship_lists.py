"""The list of relationships: a constant number of statements, and 304 if nothing has changed."""

import orjson
import pytest

from accounts.models import User
from contacts_project.kernel.json import format_timestamp
from relationships import projection
from relationships.models import Relationship
from tests.builders import make_person
from tests.client import Client
from tests.queries import count_queries
from tests.relationships.steps import list_relationships, make_ada_and_bob, make_people, relate, type_ids

pytestmark = pytest.mark.sqlite_suffices


@pytest.mark.both_databases
def test_one_row_and_fifty_take_the_same_statements(api: Client, alice: User) -> None:
    types = type_ids(api)
    center, *others = make_people(
        alice, " ".join(f"P{number}" for number in range(51)), relationship_to_user_id=types["FRIEND"]
    )
    paths = [
        "/api/relationships",
        f"/api/people/{center.pk}/graph",
        "/api/dashboard/graph",
        f"/api/people/{center.pk}/orphans",
    ]
    relate(api, center, others[0], types["FRIEND"])
    before = [count_queries(api.ok, "GET", path) for path in paths]
    for other in others[1:]:
        relate(api, center, other, types["PARENT"])
    assert [count_queries(api.ok, "GET", path) for path in paths] == before


def test_the_list_is_streamed(api: Client, alice: User) -> None:
    pairs = [relate(api, *make_ada_and_bob(alice), type_ids(api)["FRIEND"]) for _ in range(20)]
    response = api.call("GET", "/api/relationships")
    pieces = list(response.streaming_content)
    assert len(pieces) > 2
    assert max(map(len, pieces)) < sum(map(len, pieces)) * 0.7
    assert {pair["id"] for pair in pairs} <= {row["id"] for row in orjson.loads(b"".join(pieces))["relationships"]}


@pytest.mark.both_databases
def test_a_type_that_is_made_while_the_list_is_read_is_in_it(
    api: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, bob = make_ada_and_bob(alice)
    made: list[str] = []

    def read_type(key: str | None, label: str) -> tuple[str, str]:
        if key and not made:  # the types have been read, the relationships not yet
            body = {"name": "MENTOR", "label": "Mentor", "inverseLabel": "Pupil"}
            made.append(api.ok("POST", "/api/relationship-types", body)["relationshipType"]["id"])
            relate(api, ada, bob, made[0])
        return type_json(key, label)

    type_json = projection._type_json
    monkeypatch.setattr(projection, "_type_json", read_type)
    labels = [row["relationshipType"]["label"] for row in list_relationships(api)]
    assert sorted(labels) == ["Mentor", "Pupil"]


def test_types_take_the_same_statements_however_many(api: Client) -> None:
    api.ok("GET", "/api/relationship-types")  # the first request stores when the token was used
    before = count_queries(api.ok, "GET", "/api/relationship-types")
    for number in range(20):
        api.ok("POST", "/api/relationship-types", {"name": f"T{number}", "label": "T", "inverseLabel": f"I{number}"})
    assert count_queries(api.ok, "GET", "/api/relationship-types") == before


def test_an_unchanged_list_is_304(api: Client, alice: User) -> None:
    relate(api, *make_ada_and_bob(alice))
    first = api.call("GET", "/api/relationships")
    assert first["Cache-Control"] == "private, no-cache"
    again = api.call("GET", "/api/relationships", HTTP_IF_NONE_MATCH=first["ETag"])
    assert (again.status_code, again.content) == (304, b"")
    relate(api, *make_ada_and_bob(alice))
    changed = api.call("GET", "/api/relationships", HTTP_IF_NONE_MATCH=first["ETag"])
    assert changed.status_code == 200
    assert changed["ETag"] != first["ETag"]


@pytest.mark.both_databases
def test_a_response_has_the_values_of_the_row(api: Client, alice: User) -> None:
    """The database formats ids and times; zero microseconds are the special case."""
    made = relate(api, *make_ada_and_bob(alice), type_ids(api)["FRIEND"], "x")
    row = Relationship.objects.owned_by(alice).get(pk=made["id"])
    for timestamp in (
        row.created_at,
        row.created_at.replace(microsecond=0),
        row.created_at.replace(microsecond=999_999),
    ):
        Relationship.objects.owned_by(alice).filter(pk=row.pk).update(created_at=timestamp, updated_at=timestamp)
        [listed] = [found for found in list_relationships(api) if found["id"] == made["id"]]
        assert (listed["createdAt"], listed["updatedAt"]) == (format_timestamp(timestamp), format_timestamp(timestamp))
        assert (listed["personId"], listed["relationshipTypeId"]) == (str(row.person_id), str(row.relationship_type_id))


def test_special_characters_are_escaped(api: Client, alice: User) -> None:
    """The JSON of a relationship is assembled as text."""
    odd = 'say "hi"\\ back\nand 👩‍👧 </script> \u2028 é'
    body = {"name": "odd", "label": 'a "quoted" \\ label', "symmetric": True}
    kind = api.ok("POST", "/api/relationship-types", body)["relationshipType"]["id"]
    made = relate(api, make_person(alice, name='"A"\\'), make_person(alice, name="B\nb"), kind, odd)
    assert (made["notes"], made["relationshipType"]["label"]) == (odd, body["label"])
    assert (made["person"]["name"], made["relatedPerson"]["name"]) == ('"A"\\', "B\nb")
    assert made in list_relationships(api)
    assert api.ok("GET", f"/api/people/{made['personId']}")["person"]["relationships"] == [made]


def test_relationships_of_others_are_not_listed(api: Client, stranger: Client, alice: User, mallory: User) -> None:
    relate(api, *make_ada_and_bob(alice))
    own = relate(stranger, make_person(mallory, name="Max"), make_person(mallory, name="Moe"))
    assert {row["id"] for row in list_relationships(stranger)} >= {own["id"]}
    assert len(list_relationships(stranger)) == len(list_relationships(api)) == 2
