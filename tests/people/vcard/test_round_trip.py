"""A card that is written and parsed again is the same card, in 3.0 and 4.0."""

import datetime as dt
from itertools import pairwise, product
from typing import Any

import pytest
import vobject
from hypothesis import given, settings
from hypothesis import strategies as st

from contacts_project.kernel.text_forms import nfc
from people.vcard import Card, CardDate, patch_card, read_card, read_cards, write_card
from people.vcard.values import image_type
from tests.people.vcard.lines import card_lines, unmapped_lines, without_lines
from tests.rounds import rounds
from tests.strategies import optional


def text(limit: int, *, lines: bool = False) -> st.SearchStrategy[str]:
    """Text as the API stores it: in NFC, trimmed, without control characters, with characters that vCard escapes."""
    characters = st.characters(exclude_categories=["Cs", "Cc"])
    alphabet = st.one_of(st.sampled_from("\n\t;,:\\\"'^=_aé😀" if lines else "\t;,:\\\"'^=_ aé😀"), characters)
    return st.text(alphabet, max_size=min(limit, 40)).map(lambda drawn: nfc(drawn)[:limit].strip()).filter(bool)


def canonical_key(entry: Any) -> str:
    """A key that is equal for entries with equal content, in whatever order their keys were drawn."""
    return repr(sorted(entry.items())) if isinstance(entry, dict) else repr(entry)


def lists(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(strategy, max_size=4, unique_by=canonical_key).map(tuple)


KINDS = st.sampled_from(["home", "work", "other", "mobile", "cell", "work fax", "Home", "homepage"]) | text(50)
# The parser reads these two spellings differently on purpose: Apple's labels, and "tel:" of a URI.
LABELS = KINDS.filter(lambda kind: not kind.startswith("_$!<"))
PHONES = st.fixed_dictionaries({"type": LABELS, "number": text(50).filter(lambda n: n[:4].lower() != "tel:")})
EMAILS = st.fixed_dictionaries({"type": LABELS, "email": st.sampled_from(["a@b.org", "x.y+z@ex-ample.co.uk"])})
URLS = st.fixed_dictionaries({"type": LABELS, "url": text(500)})
HANDLES = st.fixed_dictionaries(
    {"type": LABELS, "protocol": st.sampled_from(["skype", "Jabber"]) | text(50), "handle": text(200)}
)
CUSTOM = st.fixed_dictionaries({"key": text(100), "value": text(1000, lines=True), "type": optional(text(50))})
ADDRESSES = st.fixed_dictionaries(
    {
        "type": LABELS,
        "streetLine1": optional(text(200)),
        "streetLine2": optional(text(200)),
        "locality": optional(text(100)),
        "region": optional(text(100)),
        "country": optional(text(100)),
        "postalCode": optional(text(20)),
    }
).filter(lambda entry: any(value for key, value in entry.items() if key != "type"))
LOCATIONS = st.fixed_dictionaries(
    {
        "type": LABELS,
        "latitude": st.floats(-90, 90).map(lambda x: round(x, 12) + 0.0),
        "longitude": st.floats(-180, 180).map(lambda x: round(x, 12) + 0.0),
        "label": optional(text(100)),
    }
)


USUAL_TITLES = {"birthday", "anniversary", "nameday", "memorial"}
TITLES = text(100).filter(lambda title: title.lower() not in USUAL_TITLES and not title.startswith("_$!<"))
# Built once, not in `days`: a strategy is checked before its first draw, which takes longer than the draw.
OPTIONAL_TITLES = optional(TITLES)
DATE_KINDS = st.sampled_from([None, None, "BIRTHDAY", "ANNIVERSARY", "NAMEDAY", "MEMORIAL"])
DAYS, DAYS_WITHOUT_YEAR = st.dates(dt.date(1700, 1, 1)), st.dates(dt.date(1604, 1, 1), dt.date(1604, 12, 31))


@st.composite
def days(draw: Any) -> CardDate:
    unknown = draw(st.booleans())
    day, kind = draw(DAYS_WITHOUT_YEAR if unknown else DAYS), draw(DATE_KINDS)
    return CardDate(date=day, type=kind, title=draw(OPTIONAL_TITLES if kind else TITLES), year_unknown=unknown)


def is_one_of_each(dates: tuple[CardDate, ...]) -> bool:
    kinds = [day.type for day in dates if day.type]
    return len(kinds) == len(set(kinds))


CARDS = st.builds(
    Card,
    name=text(100),
    surname=optional(text(100)),
    middle_name=optional(text(100)),
    second_last_name=optional(text(100)),
    nickname=optional(text(100)),
    prefix=optional(text(50)),
    suffix=optional(text(50)),
    display_name=optional(text(200)),
    organization=optional(text(200)),
    job_title=optional(text(200)),
    gender=optional(text(50) | st.sampled_from(["F", "M"])),
    anniversary=optional(st.dates(dt.date(1700, 1, 1))),
    last_contact=optional(st.dates(dt.date(1700, 1, 1))),
    notes=optional(text(1000, lines=True)),
    uid=optional(text(200)),
    phone_numbers=lists(PHONES),
    emails=lists(EMAILS),
    addresses=lists(ADDRESSES),
    urls=lists(URLS),
    im_handles=lists(HANDLES),
    locations=lists(LOCATIONS),
    custom_fields=lists(CUSTOM),
    important_dates=lists(days()).filter(is_one_of_each),
    categories=st.lists(text(100), max_size=4, unique_by=str.casefold).map(tuple),
    photo=optional(st.binary(min_size=1, max_size=400)),
    lines=st.lists(st.sampled_from(["ROLE:x\\;y", "x-Y;Z=1:é", "item4.X-ABRELATEDNAMES:B"]), unique=True).map(
        lambda texts: card_lines(*texts)
    ),
)


@settings(max_examples=rounds(40), deadline=None)
@given(CARDS)
@pytest.mark.parametrize("version", ["3.0", "4.0"])
def test_written_card_is_parsed_to_the_same_card(version: str, card: Card) -> None:
    [result] = read_cards(write_card(card, version).encode())
    assert result.error is None
    assert result.warnings == ()
    assert result.card
    assert without_lines(result.card) == without_lines(card)
    assert unmapped_lines(result.card) == unmapped_lines(card)


@pytest.mark.parametrize("handle", ["//", "//ada", "/ada", "///"])
@pytest.mark.parametrize("version", ["3.0", "4.0"])
def test_a_handle_that_begins_with_slashes(version: str, handle: str) -> None:
    card = Card(name="Ada", im_handles=({"type": "home", "protocol": "skype", "handle": handle},))
    [result] = read_cards(write_card(card, version).encode())
    assert result.card
    assert result.card.im_handles == card.im_handles


def test_custom_fields_survive_a_server_that_escapes_semicolons() -> None:
    """Every key and value of these characters, once as we write it and once as vobject writes that again."""
    texts = ["".join(part) for size in range(1, 5) for part in product("a;\\", repeat=size)]
    entries = [{"key": text, "value": f"{text},\n{other}", "type": None} for text, other in pairwise(texts)]
    entries += [{"key": "a", "value": text, "type": other} for text, other in pairwise(texts)]
    for entry in entries:
        text = write_card(Card(name="Ada", custom_fields=(entry,)), "3.0")
        for version in ("3.0", "4.0"):
            assert read_card(write_card(Card(name="Ada", custom_fields=(entry,)), version))[0].custom_fields == (entry,)
        assert read_card(vobject.readOne(text).serialize())[0].custom_fields == (entry,)


@pytest.mark.parametrize(
    ("line", "entry"),
    [
        (r"X-CUSTOM-FIELD:a\;b;c\;d", {"key": "a;b", "value": "c;d", "type": None}),
        (r"X-CUSTOM-FIELD:path;C:\\new", {"key": "path", "value": "C:\\new", "type": None}),
        (r"X-CUSTOM-FIELD:a\;b\;c", {"key": "a", "value": "b", "type": "c"}),
    ],
)
def test_custom_fields_that_are_escaped_once(line: str, entry: dict[str, str | None]) -> None:
    card, _ = read_card(f"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ada\r\n{line}\r\nEND:VCARD\r\n")
    assert card.custom_fields == (entry,)


def test_a_custom_field_on_a_card_of_version_21() -> None:
    before = "BEGIN:VCARD\r\nVERSION:2.1\r\nN:;Ada\r\nEND:VCARD\r\n"
    entries = ({"key": "a;b", "value": "c;d", "type": None}, {"key": "a", "value": "ü;1", "type": "t"})
    after = patch_card(before, Card(name="Ada", custom_fields=entries))
    assert read_card(after)[0].custom_fields == entries


@settings(max_examples=rounds(10), deadline=None)
@given(st.lists(CARDS, max_size=4))
def test_a_file_of_cards(cards: list[Card]) -> None:
    results = list(read_cards("".join(map(write_card, cards))))
    assert [without_lines(result.card) for result in results if result.card] == [without_lines(card) for card in cards]


def test_image_types_are_detected_by_their_first_bytes() -> None:
    assert [image_type(start) for start in (b"\x89PNG", b"GIF89a", b"RIFF0000WEBP", b"??")] == [
        "PNG",
        "GIF",
        "WEBP",
        "JPEG",
    ]
