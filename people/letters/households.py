"""Who gets one letter together: the one place that decides it. docs/letters.md has the table.

People whose addresses are the same (people.entries) and who are related, or have one surname, are one household.
"""

import csv
import io
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple
from uuid import UUID

from django.utils import timezone
from django.utils.translation import get_language

from accounts.models import User
from accounts.vocabularies import NameOrder
from contacts_project.kernel.json import JsonMapping, JsonObject
from contacts_project.kernel.text_forms import fold
from contacts_project.kernel.texts import define_text
from people.countries import in_words
from people.dates.schedule import calendar_from_user
from people.entries import COMPARISONS
from people.extensions import EXTENSIONS
from people.letters.lines import FIELDS, address_lines, country_of
from people.mentions import Topic, may_be_mentioned
from people.models import Membership, Person
from people.names import COLUMNS, NameParts, format_name
from people.scripts import is_cjk, is_surname_first
from people.vcard import parse_line
from people.vcard.parser import NO_PREFERENCE, preference_of

_COUPLE = define_text("household_couple", "%(first)s and %(second)s")
_FAMILY = define_text("household_family", "%(surname)s family")
_HOME = "home"
# From this many people on a household of one surname is a family.
_FAMILY_SIZE = 3
_MAX_CSV_LINES = 8
_CSV_COLUMNS = ("name", *(f"line{number}" for number in range(1, _MAX_CSV_LINES + 1)))
# With the mark Excel reads UTF-8.
_BYTE_ORDER_MARK = "\ufeff"
# Where a spreadsheet may see a formula (OWASP, CSV injection): a sign at the beginning of a cell, or behind what the
# spreadsheet of another country takes for a separator; full-width and small signs as well, which Japanese and Chinese
# ones take for those of ASCII. Blanks and quotes before the sign may be dropped.
_SIGNS = r"=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b"
_FORMULA = re.compile(rf'^(?=[\t\r\n])|(^|[;,|\t\r\n])(?=[ "\u00a0\u3000]*[{_SIGNS}])')


@dataclass(frozen=True, slots=True)
class Household:
    """One entry of a list of letters. `address` has the keys of lines.FIELDS."""

    name: str
    lines: list[str]
    person_ids: list[UUID]
    address: Mapping[str, str | None]

    def as_json(self) -> JsonObject:
        person_ids = [str(key) for key in self.person_ids]
        return {"name": self.name, "lines": self.lines, "personIds": person_ids, "address": dict(self.address)}


class _Resident(NamedTuple):
    """Somebody who gets letters, with the address for them."""

    id: UUID
    name: NameParts
    address: Mapping[str, Any]


def find_households(
    owner: User, group_ids: Collection[UUID] | None, person_ids: Collection[UUID] | None = None
) -> list[Household]:
    """The households of the account's people, or of those in at least one of the groups, or of some, in name order.

    Quiet and deceased people, and those without an address, are left out. Near linear in the people of the account.
    Texts are in the active language.
    """
    residents = _load_residents(owner, group_ids, person_ids)
    home = _most_frequent_country(owner)
    return [_build_household(owner, members, home) for members in _join_residents(owner, residents)]


def _load_residents(
    owner: User, group_ids: Collection[UUID] | None, person_ids: Collection[UUID] | None
) -> list[_Resident]:
    people = Person.objects.owned_by(owner).active().filter(may_be_mentioned(Topic.CONTACT)).exclude(addresses=[])
    if group_ids is not None:
        members = Membership.objects.owned_by(owner).filter(group_id__in=group_ids, group__deleted_at=None)
        people = people.filter(pk__in=members.values("person_id"))
    if person_ids is not None:
        people = people.filter(pk__in=person_ids)
    rows = [
        (key, NameParts(*parts), [entry for entry in addresses if any(entry.get(name) for name in FIELDS)])
        for key, addresses, *parts in people.in_name_order().values_list("id", "addresses", *COLUMNS)
    ]
    preferences = _load_preferences(owner, [key for key, _, addresses in rows if len(addresses) > 1])
    return [
        _Resident(key, name, _choose_address(addresses, preferences.get(key, {})))
        for key, name, addresses in rows
        if addresses
    ]


def _load_preferences(owner: User, person_ids: Collection[UUID]) -> dict[UUID, dict[str, int]]:
    """How preferred the addresses of these people are, by the id of the entry, as their cards mark it."""
    people = Person.objects.owned_by(owner).filter(pk__in=person_ids).exclude(card_lines=[])
    found: dict[UUID, dict[str, int]] = {}
    for key, lines in people.values_list("id", "card_lines").iterator(chunk_size=500) if person_ids else ():
        found[key] = {
            line["id"]: preference_of(parse_line(line["line"]))
            for line in lines
            if "id" in line and "addresses" in line.get("fields", ())
        }
    return found


def _choose_address(addresses: Sequence[JsonMapping], preferences: Mapping[str, int]) -> JsonMapping:
    """The address that a card marks as preferred, else the first of type home, else the first."""
    marked = [entry for entry in addresses if preferences.get(entry["id"], NO_PREFERENCE) < NO_PREFERENCE]
    if marked:
        return min(marked, key=lambda entry: preferences[entry["id"]])
    return next((entry for entry in addresses if fold(entry["type"]) == _HOME), addresses[0])


def _most_frequent_country(owner: User) -> str | None:
    """The code of the country that most addresses of the account's active people are in; None if none is ahead."""
    rows = Person.objects.owned_by(owner).active().exclude(addresses=[]).values_list("addresses", flat=True)
    countries = (country_of(entry) for addresses in rows.iterator(chunk_size=500) for entry in addresses)
    ranked = Counter(country for country in countries if country).most_common(2)
    is_ahead = ranked and (len(ranked) == 1 or ranked[0][1] > ranked[1][1])
    return ranked[0][0] if is_ahead else None


def _join_residents(owner: User, residents: Sequence[_Resident]) -> list[list[_Resident]]:
    """The members of each household, in name order, and the households in the order of their first members."""
    same = COMPARISONS["addresses"].same
    positions: dict[UUID, int] = {resident.id: index for index, resident in enumerate(residents)}
    keys = [same(resident.address) for resident in residents]
    leaders = list(range(len(residents)))

    def leader(index: int) -> int:
        while leaders[index] != index:
            leaders[index] = leaders[leaders[index]]
            index = leaders[index]
        return index

    def join(one: int, other: int) -> None:
        first, second = sorted((leader(one), leader(other)))
        leaders[second] = first

    by_surname: dict[tuple[Hashable, str], int] = {}
    for index, resident in enumerate(residents):
        if surname := fold(_surname(resident.name)):
            join(by_surname.setdefault((keys[index], surname), index), index)
    today = calendar_from_user(owner).today(timezone.now())
    for one_id, other_id in chain.from_iterable(extension.related_pairs(owner.pk, today) for extension in EXTENSIONS):
        one, other = positions.get(one_id), positions.get(other_id)
        if one is not None and other is not None and keys[one] == keys[other]:
            join(one, other)
    households: dict[int, list[_Resident]] = defaultdict(list)
    for index, resident in enumerate(residents):
        households[leader(index)].append(resident)
    return list(households.values())


def _build_household(owner: User, members: Sequence[_Resident], home: str | None) -> Household:
    address = members[0].address
    with_country = home is None or country_of(address) != home
    return Household(
        name=household_name(owner, [member.name for member in members]),
        lines=address_lines(_with_country_in_words(address), home=home, with_country=with_country),
        person_ids=[member.id for member in members],
        address={name: address.get(name) for name in FIELDS},
    )


def _with_country_in_words(address: JsonMapping) -> JsonMapping:
    """The address with its country's name for a code: posts do not read `DE`."""
    country = (address.get("country") or "").strip()
    return {**address, "country": in_words(country, get_language() or "en")} if country else address


def household_name(owner: User, names: Sequence[NameParts]) -> str:
    """The name on the envelope, in the active language and the account's name order."""
    if len(names) == 1:
        return format_name(owner, names[0])
    surnames = list({fold(text): text for name in reversed(names) if (text := _surname(name))}.values())[::-1]
    if len(names) >= _FAMILY_SIZE and surnames:
        return str(_FAMILY.format(surname=_join_texts(surnames)))
    if len(surnames) == 1 and all(map(_surname, names)):
        given = _join_texts([name.name for name in names])
        is_eastern = owner.name_order == NameOrder.EASTERN or is_surname_first([name.name for name in names] + surnames)
        order = (surnames[0], given) if is_eastern else (given, surnames[0])
        return ("" if is_cjk("".join(order)) else " ").join(order)
    return _join_texts([format_name(owner, name) for name in names])


def _surname(name: NameParts) -> str:
    return " ".join(filter(None, (name.surname, name.second_last_name)))


def _join_texts(texts: Sequence[str]) -> str:
    if len(texts) == 1:
        return texts[0]
    return str(_COUPLE.format(first=", ".join(texts[:-1]), second=texts[-1]))


def households_csv(households: Iterable[Household]) -> bytes:
    """A CSV file for letters in series, in UTF-8 with a mark. What is beyond the last column is in it, after commas."""
    file = io.StringIO(newline="")
    file.write(_BYTE_ORDER_MARK)
    writer = csv.writer(file, quoting=csv.QUOTE_ALL)
    writer.writerow(_CSV_COLUMNS)
    for household in households:
        lines = household.lines
        if len(lines) > _MAX_CSV_LINES:
            lines = [*lines[: _MAX_CSV_LINES - 1], ", ".join(lines[_MAX_CSV_LINES - 1 :])]
        cells = [household.name, *lines, *[""] * (_MAX_CSV_LINES - len(lines))]
        writer.writerow([_guard(cell) for cell in cells])
    return file.getvalue().encode()


def _guard(cell: str) -> str:
    """The cell with an apostrophe wherever a formula could begin."""
    return _FORMULA.sub(r"\1'", cell)
