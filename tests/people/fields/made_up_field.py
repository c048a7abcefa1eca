"""What a field has that is added by CONTRIBUTING's recipe. Run by test_made_up_field.py in a copy of the source.

The copy has the field `pronouns` (property PRONOUNS)."""

import re
from typing import Any

import pytest

from tests.carddav.sync.synced_account import SyncedAccount, counts, vcard
from tests.client import Client
from tests.clients.generator import generate_typescript
from tests.npm import WEB, check_types
from tests.people.importing.uploads import import_vcards
from tests.people.importing.uploads import vcard as card_bytes
from tests.people.merging.steps import merge_people, read_person, undo_merge
from tests.people.steps import create_person, list_people
from tests.web.modules import run_in_client

SHE, THEY = "she/her", "they/them"


@pytest.fixture
def synced(alice: Any) -> SyncedAccount:
    return SyncedAccount(alice)


def test_api(api: Client) -> None:
    person = create_person(api, "Ada", pronouns=SHE)
    assert read_person(api, person)["pronouns"] == list_people(api)[0]["pronouns"] == SHE
    assert api.ok("PUT", f"/api/people/{person}", {"pronouns": THEY})["person"]["pronouns"] == THEY
    assert api.call("PUT", f"/api/people/{person}", {"pronouns": "x" * 101}).status_code == 400
    [row] = api.ok("GET", "/api/people/search-index")["people"]
    assert row["pronouns"] == THEY


def test_find(api: Client) -> None:
    person = create_person(api, "Ada", pronouns=SHE)
    create_person(api, "Charles")
    [found] = api.ok("GET", "/api/find?q=she")["results"]
    assert (found["person"]["id"], found["matched"]) == (person, ["pronouns"])
    api.ok("PUT", f"/api/people/{person}", {"pronouns": THEY})
    assert api.ok("GET", "/api/find?q=she")["results"] == []
    assert len(api.ok("GET", "/api/find?q=them")["results"]) == 1


def test_cards(api: Client, stranger: Client) -> None:
    create_person(api, "Ada", pronouns=SHE)
    exported = b"".join(api.get("/api/vcard/export").streaming_content)  # type: ignore[attr-defined]
    assert b"PRONOUNS:she/her" in exported
    import_vcards(stranger, exported)
    [person] = list_people(stranger)
    assert person["pronouns"] == SHE
    import_vcards(stranger, card_bytes(f"UID:{person['uid']}", "FN:Ada", "PRONOUNS:they/them"))
    assert read_person(stranger, person["id"])["pronouns"] == THEY


def test_merging_and_undo(api: Client) -> None:
    primary, secondary = create_person(api, "Ada"), create_person(api, "Ada", pronouns=SHE)
    merged = merge_people(api, primary, secondary)
    assert merged["person"]["pronouns"] == SHE
    undo_merge(api, merged["mergeId"])
    assert [read_person(api, person)["pronouns"] for person in (primary, secondary)] == [None, SHE]
    assert merge_people(api, primary, secondary, {"pronouns": THEY})["person"]["pronouns"] == THEY


def test_export_and_import_of_the_account(api: Client, stranger: Client) -> None:
    create_person(api, "Ada", pronouns=SHE)
    document = api.ok("GET", "/api/user/export")
    stranger.ok("POST", "/api/user/import", document)
    [person] = list_people(stranger)
    assert person["pronouns"] == SHE


def test_both_directions_of_a_sync(synced: SyncedAccount) -> None:
    href = synced.server.edit("1.vcf", vcard("Ada L", "PRONOUNS:she/her"))
    synced.sync()
    person = synced.person()
    assert person.pronouns == SHE  # type: ignore[attr-defined]
    synced.edit(person, pronouns=THEY)
    assert counts(synced.sync()) == {"updated_remotely": 1}
    assert "PRONOUNS:they/them" in synced.card_of(person)
    synced.server.edit(href, vcard("Ada L", "PRONOUNS:it/its"))
    assert counts(synced.sync()) == {"updated_locally": 1}
    synced.edit(person, pronouns="xe/xem")
    synced.server.edit(href, vcard("Ada L", "PRONOUNS:ze/hir"))
    assert counts(synced.sync()) == {"conflicts": 1}
    [conflict] = synced.api.ok("GET", "/api/carddav/conflicts")["conflicts"]
    assert [(row["field"], row["local"], row["remote"]) for row in conflict["fields"]] == [
        ("pronouns", "xe/xem", "ze/hir")
    ]


IN_CLIENT = """
const { describeEdit, describeField } = await load("features/sync/describe.ts");
const { loadAllTexts, setLanguage } = await load("i18n/index.ts");
const { byName, search, toPersonRow } = await load("store/people.ts");
const { DETAIL_FIELDS, labelOf, pickPlain, toSent } = await load("features/person/fields.ts");
const field = DETAIL_FIELDS.find(({ name }) => name === "pronouns");
const shown = pickPlain(DETAIL_FIELDS, { pronouns: input }).pronouns;
const form = [labelOf(field), field.limit, shown, toSent(field, " x "), toSent(field, "")];
const body = { notes: "", pronouns: input, jobTitle: "" };
const account = { person: () => ({ name: "Ada" }) };
const change = describeEdit(account, { type: "person", id: "1", action: "update", base: {}, body });
const words = [];
for (const language of ["en", "de-DE", "es-ES", "fr-FR", "ja-JP", "nb-NO"]) {
  await setLanguage(language);
  await loadAllTexts();
  words.push(describeField("person", "pronouns"));
}
const lists = { phoneNumbers: [], emails: [], addresses: [], locations: [] };
const other = { ...lists, id: "2", name: "Ada", createdAt: "2026-01-01" };
const people = [other, { ...other, id: "1", pronouns: input }];
const rows = byName(people.map(toPersonRow), { nameOrder: "WESTERN", nameDisplayFormat: "FULL" });
return { change, words, form, found: search(rows, "them").map(({ id }) => id) };
"""


def test_client_in_the_browser() -> None:
    assert run_in_client(IN_CLIENT, THEY) == {
        "change": "Person changed: Ada (Pronouns, Profession or role, Notes)",
        "words": ["Pronouns", "Pronomen", "Pronombres", "Pronoms", "代名詞", "Pronomen"],
        "form": ["Pronouns", 100, THEY, "x", None],
        "found": ["1"],
    }


def test_compiler_finds_a_field_without_words() -> None:
    generate_typescript()
    assert check_types(WEB) == ""
    described = WEB / "src/features/sync/describe.ts"
    source = described.read_text()
    described.write_text(source.replace('    pronouns: t("Pronouns"),\n', ""))
    try:
        with pytest.raises(AssertionError, match=re.compile("describe.ts.*'pronouns' is missing", re.DOTALL)):
            check_types(WEB)
    finally:
        described.write_text(source)
