"""Generates the people of the demo account. The n-th person is the same in every run and on every machine.

Therefore the order of the random draws matters: a changed order would change all people.
"""

import datetime as dt
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.text_forms import fold
from people.field_table import DATE_KEYS, DATE_REMINDER_DEFAULTS
from people.models.dates import YEAR_UNKNOWN

HOUSEHOLD_SIZE = 4
# Not drawn, so that the people of older versions stay the same.
FAVOURITE_EVERY, QUIET_EVERY = 10, 11

_GIVEN_NAMES = """
Amara Anton Beatriz Björn Chidi Clara Daichi Elif Esra Farid Freya Gustav Hana Henri Ida Inés Ivo Jada Jonas Kaito
Kwame Lea Leila Luca Maja Malik Mei Mika Nadia Nils Noor Olga Oskar Paula Priya Rafael Rania Rui Sanna Sora Stella
Tariq Thea Tomás Ulla Vera Wei Yara Yusuf Zoë
"""
_FAMILY_NAMES = """
Andersen Bauer Castillo Dubois Eriksen Fischer García Haddad Ivanova Jansen Kowalski Larsen Moreau Nakamura Okafor
Petrov Quist Rossi Sato Tanaka Ueda Vogel Weber Xu Yılmaz Zhang
"""
_GIVEN, _SURNAMES = _GIVEN_NAMES.split(), _FAMILY_NAMES.split()
_CITIES = (
    ("Oslo", "Norway", 59.91, 10.75),
    ("Berlin", "Germany", 52.52, 13.40),
    ("Lyon", "France", 45.76, 4.84),
    ("Kyoto", "Japan", 35.01, 135.77),
    ("Sevilla", "Spain", 37.39, -5.99),
    ("Leeds", "United Kingdom", 53.80, -1.55),
    ("Toronto", "Canada", 43.65, -79.38),
    ("Accra", "Ghana", 5.60, -0.19),
)
_COMPANIES = ("Nordlicht Optik", "Tall Ships Bakery", "Meridian Maps", "Blue Door Press", "Kintsugi Works")
_JOBS = ("Nurse", "Engineer", "Teacher", "Baker", "Translator", "Carpenter", "Editor", "Cartographer", "Physicist")
_NOTES = (
    "Met on the night train. *Still owes me a coffee.*",
    "Allergic to walnuts.",
    "Knows everything about lighthouses.",
    "Ask about the **garden** next time.",
)
GROUPS: Mapping[str, Mapping[str, Any]] = {
    "Family": {"contact_reminder": {"interval": 3, "unit": "WEEKS"}, "lead_days": 10},
    "Friends": {"contact_reminder": {"interval": 2, "unit": "MONTHS"}},
    "Work": {},
    "Choir": {"lead_days": 2},
    "Book club": {},
    "Neighbours": {},
}
"""By name, with their rules."""
USER_RELATIONSHIPS = ("FRIEND", "COLLEAGUE", "RELATIVE", "ACQUAINTANCE", "SIBLING")


@dataclass
class DemoPerson:
    """One person. `relationships` has the numbers of earlier people, and what this person is to them."""

    number: int
    data: dict[str, Any]
    groups: list[str]
    relationship_to_user: str | None
    relationships: list[tuple[int, str]] = field(default_factory=list)
    has_photo: bool = False
    shirt: str | None = None
    is_vegetarian: bool | None = None

    @property
    def uid(self) -> str:
        return uid_of(self.number)


def uid_of(number: int) -> str:
    """Return the vCard UID, by which a later run recognizes the person."""
    return uuid5(NAMESPACE_URL, f"https://demo.example/people/{number}").urn


def demo_person(number: int, today: dt.date) -> DemoPerson:
    """Return the n-th person. Four are a household: a married couple and their two children."""
    rng = random.Random(number)  # noqa: S311 - a demo, not a secret
    position, family = number % HOUSEHOLD_SIZE, random.Random(f"family {number // HOUSEHOLD_SIZE}")  # noqa: S311 - as above
    surname, city = family.choice(_SURNAMES), family.choice(_CITIES)
    street, is_child = f"{family.choice(_SURNAMES)}gata {family.randint(1, 90)}", position >= 2
    name = rng.choice(_GIVEN)
    dates = [_birthday(rng, today, is_child=is_child)]
    data = {
        "name": name,
        "surname": surname,
        "nickname": name[:3] if rng.random() < 0.2 else None,
        "uid": uid_of(number),
        "addresses": [{"type": "home", "streetLine1": street, "locality": city[0], "country": city[1]}],
        "important_dates": dates,
        "notes": rng.choice(_NOTES) if rng.random() < 0.5 else None,
        "favourite": number % FAVOURITE_EVERY == 0,
        "quiet": number % QUIET_EVERY == QUIET_EVERY - 1,
    }
    if not is_child:
        data |= _adult_fields(rng, number, name, surname, today)
        dates.append(_wedding(family, today))
    if position == 0:
        near = [round(value + rng.uniform(-0.05, 0.05), 5) for value in city[2:]]
        data["locations"] = [{"type": "home", "latitude": near[0], "longitude": near[1], "label": street}]
    return DemoPerson(
        number,
        data,
        groups=sorted({rng.choice(list(GROUPS)) for _ in range(rng.randint(0, 2))}),
        relationship_to_user=_relationship_to_user(rng, number),
        relationships=_relationships(rng, number),
        has_photo=rng.random() < 0.6,
        shirt=rng.choice(("S", "M", "L")) if rng.random() < 0.3 else None,
        is_vegetarian=rng.random() < 0.5 if rng.random() < 0.3 else None,
    )


def _birthday(rng: random.Random, today: dt.date, *, is_child: bool) -> JsonObject:
    years = rng.randint(1, 17) if is_child else rng.randint(25, 80)
    born = today - dt.timedelta(days=365 * years + rng.randint(0, 364))
    return _date(rng, "BIRTHDAY", born, year_unknown=rng.random() < 0.2)


def _wedding(family: random.Random, today: dt.date) -> JsonObject:
    """Drawn from the random numbers of the family: both partners have the same date."""
    married = today - dt.timedelta(days=365 * family.randint(1, 20) + family.randint(0, 364))
    return _date(family, "ANNIVERSARY", married)


def _date(rng: random.Random, type_: str, day: dt.date, *, year_unknown: bool = False) -> JsonObject:
    return {
        **{key.column: key.empty for key in DATE_KEYS},
        **(DATE_REMINDER_DEFAULTS if rng.random() < 0.6 else {}),
        "type": type_,
        "date": day.replace(year=YEAR_UNKNOWN) if year_unknown else day,
        "year_unknown": year_unknown,
    }


def _adult_fields(rng: random.Random, number: int, name: str, surname: str, today: dt.date) -> JsonObject:
    has_contact_reminder, digits = rng.random() < 0.25, f"{number:07d}"
    return {
        "emails": [{"type": "home", "email": f"{fold(name)}.{fold(surname)}{number}@demo.example"}],
        "phone_numbers": [{"type": "mobile", "number": f"+47 4{digits[:2]} {digits[2:4]} {digits[4:]}"}],
        "urls": [{"type": "home", "url": f"https://demo.example/{number}"}] if rng.random() < 0.5 else [],
        "organization": rng.choice(_COMPANIES) if rng.random() < 0.7 else None,
        "job_title": rng.choice(_JOBS),
        "last_contact": today - dt.timedelta(days=rng.randint(0, 120)),
        "contact_reminder_enabled": has_contact_reminder,
        "contact_reminder_interval": rng.randint(1, 6) if has_contact_reminder else None,
        "contact_reminder_interval_unit": "MONTHS" if has_contact_reminder else None,
    }


def _relationship_to_user(rng: random.Random, number: int) -> str | None:
    """At most one person of a household knows the user, and in one of four households nobody."""
    if number and (number % HOUSEHOLD_SIZE or rng.random() < 0.25):
        return None
    return rng.choice(USER_RELATIONSHIPS)


def _relationships(rng: random.Random, number: int) -> list[tuple[int, str]]:
    """The family, and friends in earlier households, so that all people are connected."""
    position, head = number % HOUSEHOLD_SIZE, number - number % HOUSEHOLD_SIZE
    family = [(head, "SPOUSE")] if position == 1 else []
    if position >= 2:
        family += [(head, "CHILD"), (head + 1, "CHILD")]
    if position == 3:
        family.append((number - 1, "SIBLING"))
    friends = int(head > 0 and (position == 0 or rng.random() < 0.5))
    return family + [(rng.randrange(head), "FRIEND") for _ in range(friends)]
