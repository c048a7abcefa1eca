"""Copies of a value inside a card follow an edit of the value here, or go; all else stays."""

from dataclasses import replace
from typing import Any

import pytest

from people.vcard import patch_card, read_card, write_card
from tests.client import Client
from tests.people.importing.uploads import import_vcards

HOME = r";;Old Street 1;Oldtown;;12345;Germany"
ADDRESS = "ADR;TYPE=HOME"


def vcard(*lines: str, version: str = "3.0") -> str:
    head = ("BEGIN:VCARD", f"VERSION:{version}", "UID:1", "FN:Ada Lovelace", "N:Lovelace;Ada;;;")
    return "".join(f"{line}\r\n" for line in (*head, *lines, "END:VCARD"))


def edited(lines: tuple[str, ...], *, version: str = "3.0", **changes: Any) -> list[str]:
    """The lines of the card after a change of the first address, or of other fields, patched and written alike."""
    text = vcard(*lines, version=version)
    card, _ = read_card(text)
    assert patch_card(text, card) == text
    street = changes.pop("address", None)
    if street is not None:
        [first, *others] = card.addresses
        new = {**first, **street}
        kept = tuple(replace(kept, entry=new if kept.entry == first else kept.entry) for kept in card.lines)
        target = replace(card, addresses=(new, *others), lines=kept, **changes)
    else:
        target = replace(card, **changes)
    unfolded = [
        result.replace("\r\n ", "").split("\r\n") for result in (patch_card(text, target), write_card(target, version))
    ]
    patched, written = ({line for line in one if not line.startswith(("PRODID", "REV"))} for one in unfolded)
    assert patched == written
    assert read_card(patch_card(text, target))[0].addresses == target.addresses
    return [line for line in unfolded[0][5:-2] if line]


MOVED = {"streetLine1": "New Street 2", "locality": "Newtown"}


@pytest.mark.parametrize(
    ("line", "change", "expected"),
    [
        (f'ADR;LABEL="Old Street 1^nOldtown";TYPE=HOME:{HOME}', MOVED, True),
        (f'ADR;GEO="geo:1,2";TZ=Europe/Berlin;TYPE=HOME:{HOME}', MOVED, True),
        (rf"ADR;TYPE=HOME:{HOME};Old Street 1\n12345 Oldtown", MOVED, True),
        (f"ADR;TYPE=HOME:{HOME};r;a;f;1;Old Street;;;;;;", MOVED, True),
        (f'ADR;CC=de;X-A=1;LABEL="x";TYPE=HOME:{HOME};x', {"country": "France"}, False),
    ],
)
def test_an_edited_address_loses_its_copies(line: str, change: dict[str, Any], expected: bool) -> None:
    [address] = edited((line,), address=change)
    value = r";;New Street 2;Newtown;;12345;Germany" if expected else r";;Old Street 1;Oldtown;;12345;France"
    assert address == (f"ADR;TYPE=HOME:{value}" if expected else f"ADR;X-A=1;TYPE=HOME:{value}")


def test_a_change_of_the_type_alone_keeps_the_copies() -> None:
    [address] = edited((f'ADR;LABEL="x";TYPE=HOME:{HOME};x',), address={"type": "work"})
    assert address == f'ADR;LABEL="x";TYPE=WORK:{HOME};x'.replace('"', "")


@pytest.mark.parametrize("street", [MOVED, None])
def test_the_label_of_an_address_goes_with_it(street: dict[str, str] | None) -> None:
    other = "ADR;TYPE=WORK:;;Work Street 3;Oldtown;;;"
    cases = [
        (("LABEL;TYPE=HOME:Old Street 1", "LABEL;TYPE=WORK:Work Street 3"), {"LABEL;TYPE=WORK:Work Street 3"}),
        (("LABEL;TYPE=HOME,PREF,POSTAL:anything",), set()),
        (("item1.LABEL:anything",), set()),
        (("LABEL:old street 1\\nOldtown",), set()),
        (("LABEL:anything",), {"LABEL:anything"}),
    ]
    for labels, expected in cases:
        address = f"{'item1.' if 'item1' in labels[0] else ''}{ADDRESS}:{HOME}"
        text = (address, other, *labels)
        changes: dict[str, Any] = {"address": street} if street else {"addresses": read_card(vcard(other))[0].addresses}
        if street is None:
            card, _ = read_card(vcard(*text))
            left = [
                line for line in patch_card(vcard(*text), replace(card, **changes)).split("\r\n") if "LABEL" in line
            ]
        else:
            left = [line for line in edited(text, **changes) if "LABEL" in line]
        assert set(left) == expected


def test_the_only_label_belongs_to_the_only_address() -> None:
    assert edited((f"{ADDRESS}:{HOME}", "LABEL:anything"), address=MOVED) == [
        "ADR;TYPE=HOME:;;New Street 2;Newtown;;12345;Germany"
    ]


@pytest.mark.parametrize(
    ("country", "code"), [("France", ["item1.X-ABADR:fr"]), ("Atlantis", []), ("Germany", ["item1.X-ABADR:de"])]
)
def test_the_country_code_of_apple_follows_the_country(country: str, code: list[str]) -> None:
    lines = (f"item1.ADR:{HOME}", "item1.X-ABADR:de", "item1.X-APPLE-SUBLOCALITY:Old Quarter", "item2.X-ABADR:at")
    after = edited(lines, address={**MOVED, "country": country})
    assert after[1:] == [*code, "item2.X-ABADR:at"]


def test_the_number_in_the_form_of_evolution_goes_with_an_edit() -> None:
    text = vcard('TEL;X-EVOLUTION-E164="+4915112345,+49";TYPE=CELL:0151 12345')
    card, _ = read_card(text)
    phone = {**card.phone_numbers[0], "number": "0151 999"}
    assert "TEL;TYPE=CELL:0151 999\r\n" in patch_card(text, replace(card, phone_numbers=(phone,)))
    assert patch_card(text, replace(card, phone_numbers=card.phone_numbers)) == text


@pytest.mark.parametrize(
    ("line", "change", "expected"),
    [
        ("SORT-STRING:Lovelace", {"surname": "Byron"}, "SORT-STRING:Byron"),
        ("SORT-STRING:LOVELACE\\, Ada", {"surname": "Byron"}, "SORT-STRING:BYRON\\, Ada"),
        ("SORT-STRING:lavleis", {"surname": "Byron"}, None),
        ("SORT-STRING:Byron", {"surname": "Byron"}, "SORT-STRING:Byron"),
        ("SORT-STRING:Byron\\, Ada", {"surname": "Byron"}, "SORT-STRING:Byron\\, Ada"),
        ("SORT-STRING:lavleis", {"name": "Eva"}, "SORT-STRING:lavleis"),
        ("SORT-STRING:Lovelace", {"surname": None}, None),
        ("X-EVOLUTION-FILE-AS:Lovelace\\, Ada", {"surname": "Byron"}, "X-EVOLUTION-FILE-AS:Byron\\, Ada"),
        ("X-EVOLUTION-FILE-AS:Lovelace\\, A.", {"surname": "Byron"}, None),
        ("X-EVOLUTION-FILE-AS:Countess", {"surname": "Byron"}, "X-EVOLUTION-FILE-AS:Countess"),
        ("X-EVOLUTION-FILE-AS:Lovelace\\, Ada", {"job_title": "x"}, "X-EVOLUTION-FILE-AS:Lovelace\\, Ada"),
        ("X-PHONETIC-MIDDLE-NAME:kin", {"middle_name": "King"}, None),
        ("X-PHONETIC-ORG:x", {"organization": "Y"}, None),
        ("X-PHONETIC-ORG:x", {"surname": "Y"}, "X-PHONETIC-ORG:x"),
    ],
)
def test_a_sort_name_follows(line: str, change: dict[str, Any], expected: str | None) -> None:
    name = line.partition(":")[0]
    found = [one for one in edited((line,), **change) if one.startswith(name)]
    assert found == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("sort", "change", "expected"),
    [
        ('"Lovelace,Ada"', {"surname": "Byron"}, 'N;SORT-AS="Byron,Ada":Byron;Ada;;;'),
        ('"lavleis,ejda"', {"surname": "Byron"}, "N:Byron;Ada;;;"),
        ("Lovelace", {"name": "Eva"}, "N;SORT-AS=Lovelace:Lovelace;Eva;;;"),
        ("lavleis", {"name": "Eva"}, "N;SORT-AS=lavleis:Lovelace;Eva;;;"),
    ],
)
def test_sort_as_follows(sort: str, change: dict[str, Any], expected: str) -> None:
    text = vcard(version="4.0").replace("N:Love", f"N;SORT-AS={sort}:Love")
    card, _ = read_card(text)
    assert expected in patch_card(text, replace(card, **change)).split("\r\n")
    organization = vcard('ORG;SORT-AS="Uni":Uni', version="4.0")
    card, _ = read_card(organization)
    assert "ORG;SORT-AS=School:School" in patch_card(organization, replace(card, organization="School"))


@pytest.mark.django_db
def test_the_label_of_an_edited_address_is_not_shown(api: Client) -> None:
    import_vcards(api, vcard(f"{ADDRESS}:{HOME}", "LABEL;TYPE=HOME:Old Street 1", "X-ODD:1").encode())
    [person] = api.ok("GET", "/api/people")["people"]
    assert [entry["name"] for entry in person["more"]] == ["LABEL", "X-ODD"]
    for address, names in (({"type": "work"}, ["LABEL", "X-ODD"]), (MOVED, ["X-ODD"])):
        body = {"addresses": [{**person["addresses"][0], **address}]}
        after = api.ok("PUT", f"/api/people/{person['id']}", body)["person"]
        assert [entry["name"] for entry in after["more"]] == names


@pytest.mark.django_db
def test_the_label_of_a_removed_address_goes_with_it(api: Client) -> None:
    import_vcards(api, vcard(f"{ADDRESS}:{HOME}", "LABEL;TYPE=HOME:Old Street 1", "X-ODD:1").encode())
    [person] = api.ok("GET", "/api/people")["people"]
    after = api.ok("PUT", f"/api/people/{person['id']}", {"addresses": []})["person"]
    assert [entry["name"] for entry in after["more"]] == ["X-ODD"]
