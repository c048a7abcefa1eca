"""The relationship types of a new account, with labels in its language."""

import pytest

from accounts.models import User
from contacts_project.kernel.languages import CODES
from relationships.services.types import DEFAULT_TYPES
from tests.builders import make_user
from tests.client import Client, client_of

SYMMETRIC = {"SIBLING", "SPOUSE", "PARTNER", "FRIEND", "COLLEAGUE", "ACQUAINTANCE", "RELATIVE", "OTHER"}


def test_a_new_account_has_the_default_types(api: Client) -> None:
    types = {row["name"]: row for row in api.ok("GET", "/api/relationship-types")["relationshipTypes"]}
    assert set(types) == {"PARENT", "CHILD", *SYMMETRIC}
    assert {name for name, row in types.items() if row["symmetric"]} == SYMMETRIC
    assert types["PARENT"]["inverse"] == {"id": types["CHILD"]["id"], "name": "CHILD", "label": "Child"}
    assert types["CHILD"]["inverseId"] == types["PARENT"]["id"]
    assert all(row["inverseId"] == row["id"] for row in types.values() if row["symmetric"])


def test_registration_creates_types_in_the_accounts_language(db: None) -> None:
    client = Client()
    body = {"email": "kari@example.org", "password": "Correct-Horse-7", "name": "Kari", "language": "nb-NO"}
    client.ok("POST", "/api/auth/register", body, status=201)
    types = client.ok("GET", "/api/relationship-types")["relationshipTypes"]
    assert {row["name"]: row["label"] for row in types}["SIBLING"] == "Søsken"


@pytest.mark.parametrize(
    ("language", "label"),
    [
        ("en", "Friend"),
        ("es-ES", "Amigo/Amiga"),
        ("ja-JP", "友人"),
        ("nb-NO", "Venn"),
        ("de-DE", "Freund/Freundin"),
        ("fr-FR", "Ami/Amie"),
    ],
)
def test_labels_are_in_the_accounts_language(db: None, language: str, label: str) -> None:
    types = client_of(make_user("new@example.org", language=language)).ok("GET", "/api/relationship-types")
    assert {row["name"]: row["label"] for row in types["relationshipTypes"]}["FRIEND"] == label


def test_every_default_has_a_label_in_every_language() -> None:
    assert all(len(labels) == len(CODES) and all(labels) for _, _, labels in DEFAULT_TYPES)


def test_types_follow_the_account_s_language_in_one_write(api: Client, alice: User) -> None:
    rows = {row["name"]: row for row in api.ok("GET", "/api/relationship-types")["relationshipTypes"]}
    api.ok("PUT", f"/api/relationship-types/{rows['CHILD']['id']}", {"label": "Kiddo"})
    own = api.ok("POST", "/api/relationship-types", {"name": "Friend 2", "label": "Friend", "symmetric": True})
    api.ok("DELETE", f"/api/relationship-types/{rows['ACQUAINTANCE']['id']}")
    before = api.ok("GET", "/api/changes")["cursor"]
    revision = User.objects.get(pk=alice.pk).revision

    api.ok("PUT", "/api/user/language", {"language": "de-DE"})
    assert User.objects.get(pk=alice.pk).revision == revision + 1
    found = {row["name"]: row["label"] for row in api.ok("GET", "/api/relationship-types")["relationshipTypes"]}
    assert (found["PARENT"], found["FRIEND"], found["OTHER"]) == ("Elternteil", "Freund/Freundin", "Sonstige")
    assert (found["CHILD"], found[own["relationshipType"]["name"]]) == ("Kiddo", "Friend")
    changed = api.ok("GET", f"/api/changes?cursor={before}")["changes"]
    # The child's own label is as it was, but its inverse is called otherwise.
    records = [change["record"] for change in changed if change["type"] == "relationshipType"]
    assert {record["name"] for record in records if record} == (
        found.keys() - {own["relationshipType"]["name"], "PARTNER"}
    )
    friend = next(record for record in records if record and record["name"] == "FRIEND")
    assert friend["updatedAt"] > rows["FRIEND"]["updatedAt"]
    restored = api.ok("POST", f"/api/relationship-types/{rows['ACQUAINTANCE']['id']}/restore")["relationshipType"]
    assert restored["label"] == "Bekannte"

    # There and back through every language, and a second time to the same one.
    for language in ("es-ES", "ja-JP", "nb-NO", "fr-FR", "fr-FR", "en"):
        api.ok("PUT", "/api/user/language", {"language": language})
    found = {row["name"]: row["label"] for row in api.ok("GET", "/api/relationship-types")["relationshipTypes"]}
    assert found == {row["name"]: row["label"] for row in rows.values()} | {
        "CHILD": "Kiddo",
        own["relationshipType"]["name"]: "Friend",
    }
