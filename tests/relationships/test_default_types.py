"""The relationship types of a new account, with labels in its language."""

import pytest

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
