"""docs/duplicates.md says what the code does: worked examples, the parts of the score, and the figures of the pairs."""

import re
from pathlib import Path

import pytest

from people.duplicates import name_words, similarity
from people.duplicates.similarity import THRESHOLD, Identity
from tests.people.duplicates.labelled import PAIRS, who

pytestmark = pytest.mark.one_database

PAGE = (Path(__file__).parents[3] / "docs" / "duplicates.md").read_text()
_ADA = {"email": "a@x.org", "phone": "030 123456", "born": "1815-12-10"}
_FAMILY = {"email": "wolf@x.org", "phone": "030 123456"}
#: The rows of the table of worked examples, in their order.
EXAMPLES: dict[str, tuple[Identity, Identity]] = {
    "Ada Lovelace, Ada Lovelace": (who("Ada", "Lovelace"), who("Ada", "Lovelace")),
    "… with the same e-mail, phone and birthday": (who("Ada", "Lovelace", **_ADA), who("Ada", "Lovelace", **_ADA)),
    "Ada Lovelace; `Lovelace, Ada` in one field: 0.88 × 0.98": (who("Ada", "Lovelace"), who("Lovelace, Ada")),
    'Robert "Bob" Hill, Bob Hill: 0.88 × 0.97': (who("Robert", "Hill", nickname="Bob"), who("Bob", "Hill")),
    "Ada Lovelace, Ada Lovlace: 0.88 × 0.93": (who("Ada", "Lovelace"), who("Ada", "Lovlace")),
    "Jan de Boer, Jan Boer: 0.88 × 0.93": (who("Jan", "de Boer"), who("Jan", "Boer")),
    "Jan de Boer, Jan de Beer: 0.88 × 0.8, as Boer and Beer": (who("Jan", "de Boer"), who("Jan", "de Beer")),
    "علی کریمی, علي كريمي (Persian and Arabic letters)": (who("علی", "کریمی"), who("علي", "كريمي")),
    "Catherine Meyer, Katherine Meier: 0.88 × 0.95 × 0.95": (who("Catherine", "Meyer"), who("Katherine", "Meier")),
    "J. Smith, John Smith: 0.88 × 0.87": (who("J.", "Smith"), who("John", "Smith")),
    "Ada `a@x.org`, Ada Lovelace `A@x.org`: 0.5 raised by 0.75": (
        who("Ada", email="a@x.org"),
        who("Ada", "Lovelace", email="A@x.org"),
    ),
    "Ada `+49 151 2345678`, Ada `0151/2345678`: 0.6 raised by 0.6": (
        who("Ada", phone="+49 151 2345678"),
        who("Ada", phone="0151/2345678"),
    ),
    "Ada `+1 212 555 0100 x12`, Ada `+1 212 555 0100 x34`": (
        who("Ada", phone="+1 212 555 0100 x12"),
        who("Ada", phone="+1 212 555 0100 x34"),
    ),
    "Anna Schmidt, Anna Meier, one e-mail: 0.35 raised by 0.75": (
        who("Anna", "Schmidt", email="a@x.org"),
        who("Anna", "Meier", email="a@x.org"),
    ),
    "Tom Miller, Thomas Miller, one e-mail: 0.35 raised by 0.75": (
        who("Tom", "Miller", email="t@x.org"),
        who("Thomas", "Miller", email="t@x.org"),
    ),
    "Ada, Ada, one birthday: 0.6 raised by 0.5": (who("Ada", born="1815-12-10"), who("Ada", born="1815-12-10")),
    "Ada, Ada": (who("Ada"), who("Ada")),
    "John Smith *1950, John Smith *1980: 0.88 × 0.78": (
        who("John", "Smith", born="1950-01-01"),
        who("John", "Smith", born="1980-06-01"),
    ),
    "… with one phone (father and son)": (
        who("John", "Smith", born="1950-01-01", phone="030 123456"),
        who("John", "Smith", born="1980-06-01", phone="030 123456"),
    ),
    "Andrea and Andreas Wolf, one e-mail and phone (a couple)": (
        who("Andrea", "Wolf", **_FAMILY),
        who("Andreas", "Wolf", **_FAMILY),
    ),
    "Lena and Lina Wolf, one e-mail and birthday (twins)": (
        who("Lena", "Wolf", email="wolf@x.org", born="2001-05-05"),
        who("Lina", "Wolf", email="wolf@x.org", born="2001-05-05"),
    ),
    "Lea and Tim Wolf, one birthday, one phone (twins)": (
        who("Lea", "Wolf", born="2001-05-05", phone="030 123456"),
        who("Tim", "Wolf", born="2001-05-05", phone="030 123456"),
    ),
    "John and Mary Smith, one phone": (
        who("John", "Smith", phone="030 123456"),
        who("Mary", "Smith", phone="030 123456"),
    ),
}


def test_worked_examples_are_what_the_code_gives() -> None:
    table = PAGE.split("| Worked example | Score |")[1].split("\n\n")[0]
    rows = [line.strip("| ").rpartition(" | ") for line in table.splitlines()[2:]]
    computed = [(text, f"{similarity.similarity(*pair):.3f}".rstrip("0")) for text, pair in EXAMPLES.items()]
    assert [(text, score) for text, _, score in rows] == computed


def test_the_parts_of_the_score_are_those_of_the_code() -> None:
    code = similarity
    for row in (
        f"| given and family name agree | {code.FULL_NAME} × given × family |",
        f"| the same in the other order, or without spaces (山田太郎) | × {code.OTHER_ORDER} |",
        f"| both only given names | {code.LONE_GIVEN} × given |",
        f"| only a given name on one side, a full name on the other | {code.HALF_KNOWN} × given |",
        f"| same given, other family name | {code.OTHER_FAMILY} × given |",
        f"| equal after folding case, accents, width, punctuation, variants of letters | {name_words.SAME:.0f} |",
        f"| the record's nickname for the given name | {code.BY_NICKNAME} |",
        f"| an initial, or initials run together (JRR) | {name_words.INITIAL} |",
        f"| same e-mail / phone / both | raise {code.SAME_EMAIL} / {code.SAME_PHONE} / {code.SAME_EMAIL_AND_PHONE} |",
        f"| same birthday / same day with a year unknown | raise {code.SAME_BIRTHDAY} / {code.SAME_DAY_OF_YEAR} |",
        f"| other birthday | × {code.DIFFERENT_BIRTHDAY_FACTOR} |",
        f"| Jr. and Sr. | × {code.DIFFERENT_GENERATION_FACTOR} |",
    ):
        assert row in PAGE, row
    assert f"**Threshold {THRESHOLD}.**" in PAGE
    for part, limit in (
        ("same family, given names that two people of one family have", code.MAX_RESEMBLING_NAMES),
        ("same family, other given name", code.MAX_CONTRADICTING_NAMES),
    ):
        [row] = [line for line in PAGE.splitlines() if line.startswith(f"| {part}")]
        assert f"at most {limit}" in row


def test_the_figures_of_the_labelled_pairs_are_those_of_the_code() -> None:
    found = [pair for pair in PAIRS if similarity.similarity(pair.one, pair.other) >= THRESHOLD]
    right = sum(pair.same for pair in found)
    precision, recall = right / len(found), right / sum(pair.same for pair in PAIRS)
    text = re.sub(r"\s+", " ", PAGE)
    assert f"holds {len(PAIRS)} labelled pairs: **precision {precision:.3f}, recall {recall:.3f}**" in text
