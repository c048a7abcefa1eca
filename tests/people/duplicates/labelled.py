"""Pairs of people, labelled by hand: the same person, or different people.

Some cannot be decided by spelling (UNDECIDABLE in test_similarity.py); they count in precision and recall.
"""

import datetime as dt
from dataclasses import dataclass
from typing import Any

from people.duplicates.keys import email_key
from people.duplicates.similarity import Birthday, Identity, build_identity
from people.names import NameParts
from people.phone_numbers import phone_keys


def who(
    name: str, surname: str | None = None, *, email: str = "", phone: str = "", born: str = "", **parts: str
) -> Identity:
    """An identity as the finder builds it. `born` is a date, or `--MM-DD` if the year is unknown."""
    return build_identity(
        NameParts(name, surname, **parts),
        emails=frozenset(filter(None, [email_key(email)])),
        phones=frozenset(phone_keys(phone)),
        birthday=birthday(born),
    )


def birthday(born: str) -> Birthday | None:
    if not born:
        return None
    if born.startswith("--"):
        return Birthday(dt.date.fromisoformat(f"1604-{born[2:]}"), year_unknown=True)
    return Birthday(dt.date.fromisoformat(born))


@dataclass(frozen=True)
class LabelledPair:
    """One pair; `same` is the label."""

    why: str
    one: Identity
    other: Identity
    same: bool


def same(why: str, one: Identity, other: Identity) -> LabelledPair:
    return LabelledPair(why, one, other, same=True)


def different(why: str, one: Identity, other: Identity) -> LabelledPair:
    return LabelledPair(why, one, other, same=False)


def _smith(**more: Any) -> Identity:
    return who("John", "Smith", **more)


def _family(one: str, other: str, **more: Any) -> LabelledPair:
    """Two people of one family, with one e-mail address and number unless `more` says otherwise."""
    shared = more or {"email": "wolf@x.org", "phone": "030 123456"}
    return different(f"a family's address: {one}, {other}", who(one, "Wolf", **shared), who(other, "Wolf", **shared))


PAIRS: list[LabelledPair] = [
    same("equal full name", _smith(), _smith()),
    same("other order", _smith(), who("Smith", "John")),
    same("one field", _smith(), who("John Smith")),
    same("one field, other order, comma", _smith(), who("Smith, John")),
    same("title in the name", _smith(), who("Dr. John", "Smith")),
    same("title in one field", _smith(), who("Mr John Smith")),
    different("a title is no given name", who("Dr. Smith"), who("Dr. Smith")),
    same("case", who("ada", "LOVELACE"), who("Ada", "Lovelace")),
    same("accents", who("Zoë", "Martínez"), who("Zoe", "Martinez")),
    same("umlauts written out", who("Jürgen", "Müller"), who("Juergen", "Mueller")),
    same("umlauts written out in both names", who("Jörg", "Größmann"), who("Joerg", "Groessmann")),
    same("letters without decomposition", who("Søren", "Łukasz"), who("Soren", "Lukasz")),
    same("apostrophe", who("Sinéad", "O'Brien"), who("Sinead", "OBrien")),
    same("hyphen", who("Anna-Lena", "Vogt"), who("Anna Lena", "Vogt")),
    same("typing error in the family name", who("Ada", "Lovelace"), who("Ada", "Lovelase")),
    same("letter missing", who("Ada", "Lovelace"), who("Ada", "Lovlace")),
    same("letters exchanged, given", _smith(), who("Jonh", "Smith")),
    same("letters exchanged, family", _smith(), who("John", "Smtih")),
    same("letters exchanged, short", who("Jane", "Doe"), who("Jane", "Deo")),
    same("both misspelt", who("Jonathan", "Johnson"), who("Jonathon", "Jonhson")),
    same("misspelt and in other order", who("Michael", "Andersen"), who("Anderson", "Michael")),
    same("spelling variants", who("Catherine", "Meyer"), who("Katherine", "Meier")),
    same("spelling variants", who("Stephan", "Schmidt"), who("Stefan", "Schmitt")),
    same("spelling variants", who("Yusuf", "Demir"), who("Jusuf", "Demir")),
    same("nickname of the record", who("Robert", "Smith", nickname="Bob"), who("Bob", "Smith")),
    same("nickname on both", who("Margaret", "Hill", nickname="Peggy"), who("Maggie", "Hill", nickname="Peggy")),
    same("initial", who("J.", "Smith"), _smith()),
    same("initials", who("J. R. R.", "Tolkien"), who("John", "Tolkien", middle_name="Ronald Reuel")),
    same("initials run together", who("JRR", "Tolkien"), who("John", "Tolkien", middle_name="Ronald Reuel")),
    same("middle name on one side", who("John", "Smith", middle_name="Paul"), _smith()),
    same("middle initial", who("John", "Smith", middle_name="P."), who("John", "Smith", middle_name="Paul")),
    same("second family name on one side", who("María", "García", second_last_name="López"), who("Maria", "Garcia")),
    same(
        "second family name in one field",
        who("María", "García López"),
        who("Maria", "Garcia", second_last_name="Lopez"),
    ),
    same("particle missing", who("Ludwig", "van Beethoven"), who("Ludwig", "Beethoven")),
    same("particle run together", who("Jan", "van der Berg"), who("Jan", "Vanderberg")),
    same("double name after a marriage", who("Maria", "Schmidt-Müller"), who("Maria", "Schmidt")),
    same("Han, one field", who("山田太郎"), who("太郎", "山田")),
    same("Han, one field on both", who("山田太郎"), who("山田太郎")),
    same("Han, other order", who("伟", "王"), who("王", "伟")),
    same("Hangul with a space", who("김 민수"), who("김민수")),
    same("half-width katakana", who("ﾀﾛｳ", "山田"), who("タロウ", "山田")),
    same("Cyrillic", who("Сергей", "Иванов"), who("Иванов", "Сергей")),
    same("Cyrillic, typing error", who("Сергей", "Иванов"), who("Сергей", "Ивнаов")),
    same("Arabic with and without vowel signs", who("م\u064fح\u064eم\u0651\u064eد", "حسن"), who("محمد", "حسن")),
    same("Greek accents and case", who("Γιώργος", "Παπαδόπουλος"), who("ΓΙΩΡΓΟΣ", "ΠΑΠΑΔΟΠΟΥΛΟΣ")),
    same(
        "e-mail without case and given name", who("Ada", email="Ada@Example.org"), who("Ada", email="ada@example.ORG")
    ),
    same("e-mail, family name unknown", who("Ada", email="a@x.org"), who("Ada", "Lovelace", email="a@x.org")),
    same("e-mail, family name changed", who("Anna", "Schmidt", email="a@x.org"), who("Anna", "Meier", email="a@x.org")),
    same(
        "e-mail, short form of the name",
        who("Tom", "Miller", email="t@x.org"),
        who("Thomas", "Miller", email="t@x.org"),
    ),
    same(
        "e-mail, short form of the name",
        who("Alex", "Turner", email="t@x.org"),
        who("Alexander", "Turner", email="t@x.org"),
    ),
    same(
        "e-mail, a short form from the middle",
        who("Liz", "Turner", email="t@x.org"),
        who("Elizabeth", "Turner", email="t@x.org"),
    ),
    same(
        "e-mail, a short form as it sounds",
        who("Tony", "Turner", email="t@x.org"),
        who("Anthony", "Turner", email="t@x.org"),
    ),
    different("a short form from the middle", who("Liz", "Turner"), who("Elizabeth", "Turner")),
    same("e-mail, another script", who("Сергей", "Иванов", email="s@x.org"), who("Sergei", "Ivanov", email="s@x.org")),
    same("e-mail, another script", who("太郎", "山田", email="t@x.org"), who("Taro", "Yamada", email="t@x.org")),
    different(
        "phone, another script", who("Анна", "Иванова", phone="030 123456"), who("Boris", "Ivanov", phone="030 123456")
    ),
    same(
        "e-mail and a different birthday",
        _smith(email="j@x.org", born="1980-02-01"),
        _smith(email="j@x.org", born="1980-01-02"),
    ),
    same("national and international number", who("Ada", phone="+49 151 23456789"), who("Ada", phone="0151 23456789")),
    same(
        "number, family name unknown",
        who("Ada", phone="+1 555 123 4567"),
        who("Ada", "Lovelace", phone="(555) 123-4567"),
    ),
    same("number and typing errors", who("Jonh", "Smtih", phone="0049 30 123456"), _smith(phone="030/123456")),
    same("lone given name with birthday", who("Ada", born="1815-12-10"), who("Ada", born="1815-12-10")),
    same("equal name and birthday", _smith(born="1980-02-01"), _smith(born="1980-02-01")),
    same("equal name, birthday without a year", _smith(born="1980-02-01"), _smith(born="--02-01")),
    same(
        "short form and birthday",
        who("Alex", "Turner", phone="030 123456", email="a@x.org"),
        who("Alexander", "Turner", phone="030 123456", email="a@x.org"),
    ),
    same("suffix on one side", who("John", "Smith", suffix="Jr."), _smith()),
    same("another short form: a person knows, letters do not", who("Bill", "Gates"), who("William", "Gates")),
    same("another script: nothing is transliterated", who("Сергей", "Иванов"), who("Sergei", "Ivanov")),
    same("short form without anything else", who("Alex", "Turner"), who("Alexander", "Turner")),
    same("accent as apostrophe", who("Sinéad", "O\u00b4Brien"), who("Sinéad", "O’Brien")),
    same("Arabic, other letters of Persian", who("علی", "کریمی"), who("علي", "كريمي")),
    same("Arabic, hamza and teh marbuta", who("أحمد", "فاطمة"), who("احمد", "فاطمه")),
    same("Arabic, tatweel", who("محـــمد", "حسن"), who("محمد", "حسن")),
    same("Persian, zero-width non-joiner", who("علی\u200cرضا", "کریمی"), who("علیرضا", "کریمی")),
    same("kana of both kinds", who("タロウ", "ヤマダ"), who("たろう", "やまだ")),
    same("particle of two letters missing", who("Jan", "de Boer"), who("Jan", "Boer")),
    same("particle of two letters run together", who("Jan", "de Boer"), who("Jan", "DeBoer")),
    same("particle before a name of three letters", who("Jan", "de Wit"), who("Jan", "Wit")),
    same("number of Mexico", who("Ada", phone="+52 1 55 1234 5678"), who("Ada", phone="+52 55 1234 5678")),
    same("number of Argentina", who("Ada", phone="+54 9 11 1234 5678"), who("Ada", phone="011 15 1234-5678")),
    same("number of Hungary", who("Ada", phone="+36 30 123 4567"), who("Ada", phone="06 30 123 4567")),
    same("American exit code", who("Ada", phone="+49 151 2345678"), who("Ada", phone="011 49 151 2345678")),
    different("particle before a short name", who("Jan", "de Boer"), who("Jan", "de Beer")),
    different("particle before a short name", who("Jan", "van Dam"), who("Jan", "van Dal")),
    _family("Andrea", "Andreas"),
    _family("Maria", "Mario"),
    _family("Anna", "Anne"),
    _family("Nina", "Tina"),
    _family("Lena", "Lina"),
    _family("Lisa", "Luisa"),
    _family("Tim", "Tom"),
    _family("Jan", "Jana"),
    _family("Paul", "Pauline"),
    _family("Julia", "Julian"),
    _family("Stefan", "Stefanie"),
    _family("Anna Lena", "Anna Maria"),
    _family("Anna-Lena", "Anna-Maria"),
    _family("Lena", "Lina", email="wolf@x.org", born="2001-05-05"),
    different("a family's address, lone names", who("Anna", email="wolf@x.org"), who("Anne", email="wolf@x.org")),
    different("two extensions", who("Ada", phone="+1 212 555 0100 x12"), who("Ada", phone="+1 212 555 0100 x34")),
    different(
        "two extensions, other family names",
        who("Anna", "Schmidt", phone="030 123456 ext. 12", email="a@x.org"),
        who("Berta", "Meier", phone="030 123456 ext. 34"),
    ),
    different("lone given name", who("Ada"), who("Ada")),
    different("lone given name with accents", who("Zoë"), who("zoe")),
    different("lone given name, Han", who("太郎"), who("太郎")),
    different("lone and full name", who("Ada"), who("Ada", "Lovelace")),
    different("lone given name, day of the year", who("Ada", born="--12-10"), who("Ada", born="--12-10")),
    different("other given name", _smith(), who("Mary", "Smith")),
    different("other given name, same letter", _smith(), who("Jane", "Smith")),
    different("other family name", _smith(), who("John", "Miller")),
    different("nothing in common", _smith(), who("Ada", "Lovelace")),
    different(
        "shared family phone", who("John", "Smith", phone="030 123456"), who("Mary", "Smith", phone="+49 30 123456")
    ),
    different(
        "shared family phone, alike names",
        who("Anna", "Smith", phone="030 123456"),
        who("Anne", "Smith", phone="030 123456"),
    ),
    different(
        "shared phone, other names", who("Carl", "Berg", phone="030 123456"), who("Ida", "Holm", phone="030 123456")
    ),
    different("shared phone, lone names", who("Carl", phone="030 123456"), who("Ida", phone="030 123456")),
    different(
        "shared e-mail of a couple",
        who("John", "Smith", email="smiths@x.org"),
        who("Mary", "Smith", email="smiths@x.org"),
    ),
    different(
        "couple sharing everything",
        who("John", "Smith", email="s@x.org", phone="030 123456"),
        who("Mary", "Smith", email="s@x.org", phone="030 123456"),
    ),
    different("office e-mail", who("Carl", "Berg", email="info@x.org"), who("Ida", "Holm", email="info@x.org")),
    different("twins", who("Lea", "Wolf", born="2001-05-05"), who("Tim", "Wolf", born="2001-05-05")),
    different(
        "twins with one phone",
        who("Lea", "Wolf", born="2001-05-05", phone="030 123456"),
        who("Tim", "Wolf", born="2001-05-05", phone="030 123456"),
    ),
    different(
        "twins with alike names",
        who("Anna", "Wolf", born="2001-05-05", phone="030 123456"),
        who("Anne", "Wolf", born="2001-05-05", phone="030 123456"),
    ),
    different("brother and sister", who("Mario", "Rossi"), who("Maria", "Rossi")),
    different("endings", who("Andrea", "Keller"), who("Andreas", "Keller")),
    different("endings", who("Christian", "Bauer"), who("Christiane", "Bauer")),
    different("endings", who("Peter", "Lang"), who("Petra", "Lang")),
    different("one letter of a short name", who("Tim", "Lang"), who("Tom", "Lang")),
    different("one letter of a short name", who("Lena", "Lang"), who("Lina", "Lang")),
    different("first letter", who("Harry", "Potter"), who("Larry", "Potter")),
    different("equal name, other birthday", _smith(born="1950-01-01"), _smith(born="1980-06-01")),
    different("equal name, other day of the year", _smith(born="--01-01"), _smith(born="1980-06-01")),
    different(
        "father and son with one phone",
        _smith(born="1950-01-01", phone="030 123456"),
        _smith(born="1980-06-01", phone="030 123456"),
    ),
    different("Jr. and Sr.", who("John", "Smith", suffix="Jr."), who("John", "Smith", suffix="Sr.")),
    different(
        "other middle names", who("John", "Smith", middle_name="Paul"), who("John", "Smith", middle_name="Peter")
    ),
    different(
        "other second family names",
        who("Maria", "Garcia", second_last_name="Lopez"),
        who("Maria", "Garcia", second_last_name="Ruiz"),
    ),
    different("other initial", who("J.", "Smith"), who("Mary", "Smith")),
    different("Han, one character differs", who("伟", "王"), who("芳", "王")),
    different("Cyrillic, husband and wife", who("Александр", "Иванов"), who("Александра", "Иванова")),
    different("sisters one letter apart", who("Marta", "Rossi"), who("Maria", "Rossi")),
    different(
        "two of one name, unknown to letters",
        who("Maria", "Garcia", email="a@x.org"),
        who("Maria", "Garcia", email="b@y.org"),
    ),
    different("given names one letter longer", who("Karin", "Lang"), who("Katrin", "Lang")),
]
