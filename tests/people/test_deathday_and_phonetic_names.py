"""Day of death, phonetic names and other card properties: from card to response and back."""

from typing import Any

import pytest

from accounts.models import User
from contacts_project.kernel.invariants import find_violations
from people.models import Person
from tests.client import Client, client_of
from tests.people.importing.uploads import import_vcards, vcard

pytestmark = pytest.mark.django_db

LINES = (
    "N:山田;花子;;;",
    "FN:花子 山田",
    "DEATHDATE:20200203",
    "X-PHONETIC-FIRST-NAME:はなこ",
    "X-PHONETIC-LAST-NAME:やまだ",
    "ROLE:Poet\\, of sorts",
    "item1.X-SOCIALPROFILE;TYPE=twitter:https://twitter.example/hanako",
    "item1.X-ABLabel:Bird",
    "X-SOCIALPROFILE;TYPE=mastodon:https://m.example/@h",
    "LOGO;ENCODING=b;TYPE=PNG:iVBORw0KGgo=",
    f"X-LONG:{'x' * 3000}",
)


@pytest.fixture
def hanako(api: Client) -> dict[str, Any]:
    import_vcards(api, vcard(*LINES))
    person: dict[str, Any] = api.ok("GET", f"/api/people/{Person.unscoped.get().pk}")["person"]
    return person


def export(api: Client, query: str = "") -> str:
    response: Any = api.get(f"/api/vcard/export{query}")
    text: str = b"".join(response.streaming_content).decode()
    return text.replace("\r\n ", "")


def test_properties_of_a_card_become_fields_and_others_are_shown(hanako: dict[str, Any]) -> None:
    assert [hanako[name] for name in ("deathday", "phoneticName", "phoneticSurname")] == [
        "2020-02-03",
        "はなこ",
        "やまだ",
    ]
    assert hanako["more"] == [
        {"name": "ROLE", "value": "Poet, of sorts", "label": None},
        {"name": "X-SOCIALPROFILE", "value": "https://twitter.example/hanako", "label": "Bird"},
        {"name": "X-SOCIALPROFILE", "value": "https://m.example/@h", "label": "mastodon"},
        {"name": "X-LONG", "value": "x" * 1000, "label": None},
    ]


def test_edit_changes_only_its_line(api: Client, hanako: dict[str, Any]) -> None:
    body = {"deathday": "2020-02-04", "phoneticName": "ハナコ", "more": []}
    changed = api.ok("PUT", f"/api/people/{hanako['id']}", body)["person"]
    assert changed["more"] == hanako["more"]
    text = export(api)
    for line in ("DEATHDATE:20200204", "X-PHONETIC-FIRST-NAME:ハナコ", *LINES[4:]):
        assert f"\n{line.replace('LOGO;ENCODING=b;TYPE=PNG:', 'LOGO:data:image/png;base64,')}\r" in text
    api.ok("PUT", f"/api/people/{hanako['id']}", {"deathday": None, "phoneticName": None})
    assert "DEATHDATE" not in export(api)
    assert "FIRST-NAME" not in export(api)
    made = api.ok("POST", "/api/people", {"name": "Bob", "deathday": "1999-12-31"}, status=201)["person"]
    assert made["more"] == []
    assert "X-DEATHDATE:1999-12-31" in export(api, "?version=3.0")


def test_fields_survive_export_import_and_merge(api: Client, hanako: dict[str, Any], mallory: User) -> None:
    other = client_of(mallory)
    other.ok("POST", "/api/user/import", api.ok("GET", "/api/user/export"))
    (found,) = other.ok("GET", "/api/people")["people"]
    copied = other.ok("GET", f"/api/people/{found['id']}")["person"]
    names = ("deathday", "phoneticName", "phoneticSurname", "more")
    assert [copied[name] for name in names] == [hanako[name] for name in names]
    bare = api.ok("POST", "/api/people", {"name": "花子"}, status=201)["person"]["id"]
    merged = api.ok("POST", "/api/people/merge", {"primaryId": bare, "secondaryId": hanako["id"]})
    assert [merged["person"][name] for name in names] == [hanako[name] for name in names]
    undone = api.ok("POST", f"/api/people/merge/{merged['mergeId']}/undo")["person"]
    assert [undone[name] for name in names] == [None, None, None, []]


def test_people_are_sorted_and_found_by_phonetic_names(api: Client, hanako: dict[str, Any]) -> None:
    for name, phonetic in (("安部", "あべ"), ("渡辺", "わたなべ")):
        api.ok("POST", "/api/people", {"name": name, "phoneticName": phonetic}, status=201)
    assert [person["name"] for person in api.ok("GET", "/api/people")["people"]] == ["安部", "花子", "渡辺"]
    (found,) = api.ok("GET", "/api/people/search?q=やまだ はな")["people"]
    assert found["id"] == hanako["id"]
    (found,) = api.ok("GET", "/api/find?q=わたなべ")["results"]
    assert found["person"]["displayName"] == "渡辺"
    assert list(find_violations("sort or search keys")) == list(find_violations("look-up keys")) == []
    import_vcards(api, vcard(*LINES))  # matches the same person
    import_vcards(api, vcard("N:;安部;;;", "FN:安部", "X-PHONETIC-FIRST-NAME:あべ"))
    assert Person.unscoped.count() == 3
