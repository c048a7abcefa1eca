"""Who is found by what: numbers in any spelling, names in Chinese and Japanese."""

from typing import Any

import pytest

from tests.web.modules import run_in_client

SEARCH = """
const { byName, search, toPersonRow } = await load("store/people.ts");
const lists = { phoneNumbers: [], emails: [], addresses: [], locations: [], createdAt: "2026-01-01T00:00:00Z" };
const settings = { nameOrder: "WESTERN", nameDisplayFormat: "FULL" };
return input.map(({ people, query }) => {
  const rows = byName(people.map((person, index) => toPersonRow({ ...lists, id: String(index), ...person })), settings);
  return search(rows, query).map(({ id }) => Number(id));
});
"""


def find(*cases: tuple[list[dict[str, Any]], str]) -> Any:
    return run_in_client(SEARCH, [{"people": people, "query": query} for people, query in cases])


def with_number(number: str) -> list[dict[str, Any]]:
    return [{"name": "Cid", "phoneNumbers": [{"number": number}]}]


SAME = [
    ("+49 170 1112233", "0170 1112233"),
    ("+49 170 1112233", "0049 170 1112233"),
    ("+49 170 1112233", "011 49 170 1112233"),
    ("+49 170 1112233", "+49 (0)170/111 22-33"),
    ("+49 170 1112233", "01701112233"),
    ("+49 170 1112233", "491701112233"),
    ("+49 170 1112233", "0170 111"),
    ("+49 170 1112233", "2233"),
    ("0170 1234567", "+49 170 1234567"),
    ("0170 1234567", "+49 (0)170 1234567"),
    ("0170 1234567", "0049170 1234567"),
    ("170 1234567", "0170 1234567"),
    ("0170/1234567", "0170 12 34 567"),
    ("600 111 222", "+34 600 111 222"),
    ("+34 600 111 222", "600111222"),
    ("(312) 345-6789", "+1 312 345 6789"),
    ("+1 312 345 6789", "1 312 345 6789"),
    ("+36 30 123 4567", "06 30 123 4567"),
    ("8 912 345 67 89", "+7 912 345 67 89"),
    ("+7 912 345 67 89", "8 (912) 345-67-89"),
    ("+39 06 1234567", "06 1234567"),
    ("+1-201-555-0123 ext. 5", "201 555 0123"),
    ("1-800-FLOWERS", "1800 3569377"),
    ("1-800-356-9377", "1-800-FLOWERS"),
    ("+49 170 1112233", "٠١٧٠ ١١١٢٢٣٣"),
    ("090-1234-5678", "+81 90 1234 5678"),
]
OTHERS = [
    ("+43 170 1112233", "+49 170 1112233"),
    ("+49 171 1112233", "0170 1112233"),
    ("0171 1112233", "+49 170 1112233"),
    ("+44 20 7946 0000", "0170 1112233"),
    ("+49 170 1112233", "06 170 1112233"),
    ("4711", "112"),
]


def test_a_number_is_found_in_any_spelling() -> None:
    results = find(*[(with_number(stored), query) for stored, query in SAME])
    assert [case for case, found in zip(SAME, results, strict=True) if found != [0]] == []


def test_other_numbers_are_not_found() -> None:
    results = find(*[(with_number(stored), query) for stored, query in OTHERS])
    assert [case for case, found in zip(OTHERS, results, strict=True) if found] == []


@pytest.mark.parametrize(
    "person",
    [
        {"name": "太郎", "surname": "山田", "phoneticName": "タロウ", "phoneticSurname": "ヤマダ"},
        {"name": "山田 太郎", "phoneticName": "ヤマダ タロウ"},
    ],
)
def test_names_without_blanks_are_found_as_they_are_written(person: dict[str, str]) -> None:
    queries = ["山田太郎", "山田 太郎", "太郎 山田", "山田\u3000太郎", "田太", "ヤマダタロウ", "やまだたろう", "ﾔﾏﾀﾞ"]
    people: list[dict[str, Any]] = [person, {"name": "伟", "surname": "王"}]
    assert find(*[(people, query) for query in queries]) == [[0]] * len(queries)


def test_names_are_found_in_either_order() -> None:
    people: list[dict[str, Any]] = [{"name": "伟", "surname": "王"}, {"name": "철수", "surname": "김"}]
    queries = ["王伟", "伟王", "王 伟", "김철수", "철수 김"]
    assert find(*[(people, query) for query in queries]) == [[0], [0], [0], [1], [1]]


def test_the_beginning_of_a_name_comes_first() -> None:
    people: list[dict[str, Any]] = [
        {"name": "Zoe", "notes": "knows Ina"},
        {"name": "Martina"},
        {"name": "Bea", "surname": "Inari"},
        {"name": "Ina"},
        {"name": "Cid", "phoneNumbers": [{"number": "0170 111"}]},
    ]
    assert find((people, "ina"), (people, "cid 0170")) == [[3, 2, 1, 0], [4]]
