"""What a line of text is understood as, in the six languages."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.web.modules import run_in_client

PARSE = """
const { NameIndex } = await load("features/add/names.ts");
const { parse } = await load("features/add/parse.ts");
const row = ([id, name, surname, nickname]) => ({
  id, name: [name, surname].filter(Boolean).join(" "),
  parts: { name, surname: surname ?? null, middleName: null, nickname: nickname ?? null },
});
const names = new NameIndex();
names.add(input.people.map(row));
return input.lines.map(([language, line]) => {
  const dateFormat = language === "en" ? "MDY" : "DMY";
  const context = { ...input, language, today: "2026-11-28", dateFormat, names };
  const reading = parse(line, context);
  return { ...reading, tokens: reading.tokens.map(({ start, end, kind }) => [line.slice(start, end), kind]) };
});
"""
PEOPLE = [
    ["ines", "Inês", "Carvalho"],
    ["tomas", "Tomás", "Ferreira"],
    ["ana", "Ana", "García López"],
    ["ben", "Ben", None],
    ["jane", "Jane", "Roe", "Jay"],
    ["eva1", "Eva", "Weiß"],
    ["eva2", "Eva", "Schwarz"],
    ["lotte", "Lotte", "Weiß"],
    ["will", "Will", "Mason"],
    ["taro", "太郎", "山田"],
    ["hanako", "花子", "佐藤"],
]
GROUPS = [{"id": "family", "name": "Family"}, {"id": "choir", "name": "Choir"}]
TYPES = [
    {"id": "sibling", "name": "SIBLING", "label": "Sibling"},
    {"id": "parent", "name": "PARENT", "label": "Parent"},
    {"id": "child", "name": "CHILD", "label": "Child"},
    {"id": "boss", "name": "BOSS", "label": "Boss"},
    {"id": "patin", "name": "PATIN", "label": "Patin/Pate"},
]


def parse(*lines: tuple[str, str]) -> list[dict[str, Any]]:
    asked = {"people": PEOPLE, "groups": GROUPS, "types": TYPES, "lines": lines}
    result: list[dict[str, Any]] = run_in_client(PARSE, asked)
    return result


def read(cases: Sequence[tuple[Any, ...]], found: Callable[[dict[str, Any]], tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Each line with what was found in it."""
    readings = parse(*[(language, line) for language, line, *_ in cases])
    return [(line, *found(reading)) for (_, line, *_), reading in zip(cases, readings, strict=True)]


def who(reading: dict[str, Any]) -> list[str]:
    """The ids, or the name of somebody new."""
    return ["|".join(person["ids"]) or f"+{person['text']}" for person in reading["people"]]


# Language, line, kind of contact, people, day, note.
CONTACTS = [
    ("en", "met ana yesterday", "MEETING", ["ana"], "2026-11-27", ""),
    ("en", "called", "CALL", [], None, ""),
    ("en", "log meeting with ana and ben", "MEETING", ["ana", "ben"], None, ""),
    (
        "en",
        "Called Inês on Friday: she moves to Lisbon in May",
        "CALL",
        ["ines"],
        "2026-11-27",
        "she moves to Lisbon in May",
    ),
    ("en", "Met Ana Garcia, Ben and Tomás on 3 Dec", "MEETING", ["ana", "ben", "tomas"], "2025-12-03", ""),
    ("en", "Met Ana 3 weeks ago", "MEETING", ["ana"], "2026-11-07", ""),
    ("en", "Met Ana a week ago", "MEETING", ["ana"], "2026-11-21", ""),
    ("en", "gave Jay a book about trees", "GIFT", ["jane"], None, "a book about trees"),
    ("en", "Wrote to Inês Carvalho on Nov 12, 2026", "MESSAGE", ["ines"], "2026-11-12", ""),
    ("en", "emailed ben 11/5", "EMAIL", ["ben"], "2026-11-05", ""),
    ("en", "Will called", "CALL", ["will"], None, ""),
    ("en", "Met Ana, will call back on Monday", "MEETING", ["ana"], None, "will call back on Monday"),
    ("en", "met ana at the station", "MEETING", ["ana"], None, "at the station"),
    ("en", "Ana likes tulips", "NOTE", ["ana"], None, "Ana likes tulips"),
    ("en", "met zora yesterday", "MEETING", [], "2026-11-27", "zora"),
    ("en", "Met Zora Neale yesterday", "MEETING", ["+Zora Neale"], "2026-11-27", ""),
    ("en", "met eva today", "MEETING", ["eva1|eva2"], "2026-11-28", ""),
    ("en", "met eva weiss today", "MEETING", ["eva1"], "2026-11-28", ""),
    ("en", "dinner with Family", "MEETING", [], None, ""),
    ("de-DE", "Gestern mit Ana telefoniert", "CALL", ["ana"], "2026-11-27", ""),
    ("de-DE", "Ana am Montag getroffen, sie zieht um", "MEETING", ["ana"], "2026-11-23", "sie zieht um"),
    ("de-DE", "Treffen mit Lotte und Ben am 3. Oktober", "MEETING", ["lotte", "ben"], "2026-10-03", ""),
    ("de-DE", "Anruf bei Inês vor zwei Wochen", "CALL", ["ines"], "2026-11-14", ""),
    ("de-DE", "Ben am 12.11. geschrieben", "MESSAGE", ["ben"], "2026-11-12", ""),
    ("es-ES", "Llamé a Inés ayer", "CALL", ["ines"], "2026-11-27", ""),
    ("es-ES", "Comida con Ana y Ben el 3 de octubre de 2026", "MEETING", ["ana", "ben"], "2026-10-03", ""),
    ("es-ES", "Quedé con Tomás hace 3 días", "MEETING", ["tomas"], "2026-11-25", ""),
    ("fr-FR", "Appel avec Ana hier", "CALL", ["ana"], "2026-11-27", ""),
    ("fr-FR", "Rencontré Ben et Ana lundi dernier", "MEETING", ["ben", "ana"], "2026-11-23", ""),
    ("fr-FR", "Message à Inês le 1er novembre", "MESSAGE", ["ines"], "2026-11-01", ""),
    ("nb-NO", "Møtte Ana i går", "MEETING", ["ana"], "2026-11-27", ""),
    ("nb-NO", "Ringte til Ben for to dager siden", "CALL", ["ben"], "2026-11-26", ""),
    ("nb-NO", "Middag med Ana og Tomás på fredag", "MEETING", ["ana", "tomas"], "2026-11-27", ""),
    ("ja-JP", "昨日山田太郎さんと会った", "MEETING", ["taro"], "2026-11-27", ""),
    ("ja-JP", "花子に電話した", "CALL", ["hanako"], None, ""),
    ("ja-JP", "11月3日に太郎と花子と食事", "MEETING", ["taro", "hanako"], "2026-11-03", ""),
]


def test_contacts_are_understood() -> None:
    assert read(CONTACTS, lambda of: (of["kind"], of["contactKind"], who(of), of["day"], of["notes"])) == [
        (line, "contact", *expected) for _, line, *expected in CONTACTS
    ]


def test_title_and_place_of_a_meeting() -> None:
    [tea] = parse(("en", "Tea with Inês and Tomás yesterday in Porto, Leonor lost a tooth"))
    assert (tea["title"], tea["where"], tea["notes"]) == ("Tea", "in Porto", "Leonor lost a tooth")
    assert who(tea) == ["ines", "tomas"]
    assert tea["tokens"] == [
        ["Tea", "touch"],
        ["Inês", "tie"],
        ["Tomás", "tie"],
        ["yesterday", "date"],
        ["in Porto", "place"],
    ]


# Language, line, name and surname, numbers, addresses, date, whether its year is unknown, note.
PERSONS = [
    ("en", "Jane Doe 0170 1112233 birthday 3 May", "Jane", "Doe", ["0170 1112233"], [], "1604-05-03", ""),
    ("en", "Zoe, +44 20 7946 0000, zoe@example.org", "Zoe", "", ["+44 20 7946 0000"], ["zoe@example.org"], None, ""),
    ("en", "new person Ana Silva", "Ana", "Silva", [], [], None, ""),
    ("en", "add Zoe Ray 5 June 1990 birthday", "Zoe", "Ray", [], [], "1990-06-05", ""),
    ("en", "Zoe Ray", "Zoe", "Ray", [], [], None, ""),
    ("en", "zoe ray 0170 1112233, met at the fair", "zoe", "ray", ["0170 1112233"], [], None, "met at the fair"),
    ("de-DE", "Zora Neu Tel. 0170/1112233 geboren am 3.5.1990", "Zora", "Neu", ["0170/1112233"], [], "1990-05-03", ""),
    ("es-ES", "Zoe Ruiz cumpleaños 3 de mayo", "Zoe", "Ruiz", [], [], "1604-05-03", ""),
    ("fr-FR", "Zoé Roux anniversaire 3 mai 1990", "Zoé", "Roux", [], [], "1990-05-03", ""),
    ("nb-NO", "Zoe Dahl bursdag 3. mai", "Zoe", "Dahl", [], [], "1604-05-03", ""),
    ("ja-JP", "鈴木 一郎 090-1234-5678 誕生日 5月3日", "一郎", "鈴木", ["090-1234-5678"], [], "1604-05-03", ""),
]


def test_new_people_are_understood() -> None:
    def found(of: dict[str, Any]) -> tuple[Any, ...]:
        [name] = [person["newName"] or {} for person in of["people"]]
        return of["kind"], *name.values(), of["phones"], of["emails"], of["date"] and of["date"]["day"], of["notes"]

    assert read(PERSONS, found) == [(line, "person", *expected) for _, line, *expected in PERSONS]


# Language, line, person, type, day, whether the year is unknown.
DATES = [
    ("en", "Ana birthday 3 May 1990", "ana", "BIRTHDAY", "1990-05-03", False),
    ("en", "jane birthday 3 may", "jane", "BIRTHDAY", "1604-05-03", True),
    ("en", "Jane's birthday is on 5/3", "jane", "BIRTHDAY", "1604-05-03", True),
    ("en", "eva birthday 2 june", "eva1|eva2", "BIRTHDAY", "1604-06-02", True),
    ("en", "Inês wedding day 20 June 2015", "ines", "ANNIVERSARY", "2015-06-20", False),
    ("en", "jane birthday", "jane", "BIRTHDAY", None, False),
    ("de-DE", "Anas Geburtstag am 3. Mai", "ana", "BIRTHDAY", "1604-05-03", True),
    ("de-DE", "Geburtstag von Ana: 3.5.90", "ana", "BIRTHDAY", "1990-05-03", False),
    ("es-ES", "cumpleaños de Ana 3 de mayo de 1990", "ana", "BIRTHDAY", "1990-05-03", False),
    ("fr-FR", "anniversaire d'Ana le 3 mai", "ana", "BIRTHDAY", "1604-05-03", True),
    ("fr-FR", "anniversaire de mariage de Ben le 3 mai 2001", "ben", "ANNIVERSARY", "2001-05-03", False),
    ("nb-NO", "Anas bursdag 3. mai 1990", "ana", "BIRTHDAY", "1990-05-03", False),
    ("ja-JP", "太郎の誕生日は5月3日", "taro", "BIRTHDAY", "1604-05-03", True),
    ("ja-JP", "山田太郎 誕生日 1990年5月3日", "taro", "BIRTHDAY", "1990-05-03", False),
]


def test_dates_of_known_people_are_understood() -> None:
    assert read(DATES, lambda of: (of["kind"], *who(of), *(of["date"] or {}).values())) == [
        (line, "date", *expected) for _, line, *expected in DATES
    ]


RELATIONS = [
    ("en", "Ben is Ana's sister", "sibling", ["ben", "ana"]),
    ("en", "Ana's brother is Ben", "sibling", ["ben", "ana"]),
    ("en", "ben is the father of ana", "parent", ["ben", "ana"]),
    ("en", "Ben is Ana's boss", "boss", ["ben", "ana"]),
    ("en", "Zora Neale is Ana's sister", "sibling", ["+Zora Neale", "ana"]),
    ("de-DE", "Lotte ist Anas Schwester", "sibling", ["lotte", "ana"]),
    ("de-DE", "Lotte ist die Patin von Ben", "patin", ["lotte", "ben"]),
    ("es-ES", "Ben es el hermano de Ana", "sibling", ["ben", "ana"]),
    ("fr-FR", "Ben est le frère d'Ana", "sibling", ["ben", "ana"]),
    ("nb-NO", "Ben er broren til Ana", "sibling", ["ben", "ana"]),
    ("ja-JP", "花子は太郎の妹", "sibling", ["hanako", "taro"]),
    ("ja-JP", "太郎の妹は花子です", "sibling", ["hanako", "taro"]),
]


def test_relations_are_understood() -> None:
    assert read(RELATIONS, lambda of: (of["kind"], (of["relation"] or {}).get("typeId"), who(of))) == [
        (line, "relation", *expected) for _, line, *expected in RELATIONS
    ]


VERBS = [
    ("en", "call jane", "call", ["jane"]),
    ("en", "mail ana and ben", "mail", ["ana", "ben"]),
    ("en", "open Ana García", "open", ["ana"]),
    ("en", "call jane yesterday", None, ["jane"]),
    ("de-DE", "Jane anrufen", "call", ["jane"]),
    ("de-DE", "ruf jane an", "call", ["jane"]),
    ("de-DE", "Nachricht an Ben", "message", ["ben"]),
    ("es-ES", "llama a Ana", "call", ["ana"]),
    ("fr-FR", "appelle Ana", "call", ["ana"]),
    ("nb-NO", "ring Ben", "call", ["ben"]),
    ("ja-JP", "太郎に電話", "call", ["taro"]),
    ("ja-JP", "太郎さんにメール", "mail", ["taro"]),
]


def test_what_is_to_be_done_is_understood() -> None:
    assert read(VERBS, lambda of: (of["verb"], who(of))) == [(line, *expected) for _, line, *expected in VERBS]


def test_numbers_and_addresses_of_known_people() -> None:
    number, mail = parse(("en", "Ana 0170 1112233"), ("en", "ben ben@example.org"))
    assert (number["kind"], who(number), number["phones"]) == ("details", ["ana"], ["0170 1112233"])
    assert (mail["kind"], who(mail), mail["emails"]) == ("details", ["ben"], ["ben@example.org"])


def test_people_are_put_into_groups() -> None:
    added, met = parse(("en", "add ana and ben to choir"), ("en", "Dinner with Ana and Choir"))
    assert (added["kind"], who(added), added["groupIds"]) == ("group", ["ana", "ben"], ["choir"])
    assert (met["kind"], who(met), met["groupIds"]) == ("contact", ["ana"], ["choir"])


def test_accents_tell_names_apart() -> None:
    people = [["a", "Inês", "Carvalho"], ["b", "Inés", "Petrov"]]
    lines = [("en", "met Inês"), ("en", "met inés"), ("en", "met ines")]
    found = run_in_client(PARSE, {"people": people, "groups": [], "types": [], "lines": lines})
    assert [who(reading) for reading in found] == [["a"], ["b"], ["a|b"]]


@pytest.mark.parametrize("line", ["the key is under the stone", "buy 3 apples, then 4 pears", "?", "!!! ...", "42"])
def test_what_is_not_understood_is_the_note(line: str) -> None:
    [reading] = parse(("en", line))
    assert (reading["kind"], reading["people"], reading["notes"]) == ("note", [], line)


@pytest.mark.parametrize("language", ["en", "de-DE", "ja-JP"])
def test_any_text_is_read(language: str) -> None:
    """Nothing is lost of what somebody types, however odd it is, and each token is a part of the text."""
    lines = [
        "",
        " ",
        "\n",
        "'s",
        "met",
        "met ,,, and",
        "ß ẞ ﷺ 👩‍👩‍👧 met Ana",
        "a" * 5000,
        "Ana " * 500,
        "3.3.3.3.3.3",
        "+" * 200,
        "日" * 300,
    ]
    for line, reading in zip(lines, parse(*[(language, line) for line in lines]), strict=True):
        assert all(text and text in line for text, _ in reading["tokens"]), line[:20]
