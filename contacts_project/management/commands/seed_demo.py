"""`manage.py seed_demo`: creates a demo account with people and relationships."""

import datetime as dt
import random
import secrets
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone
from PIL import Image, ImageDraw, ImageFont
from tqdm import tqdm

from accounts.models import User
from accounts.models.user import NEW_ACCOUNT
from accounts.services.registration import DEMO_EMAIL
from accounts.signals import start_account
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.text_forms import fold
from contacts_project.management.service_command import ServiceCommand
from people.field_table import DATE_KEYS, DATE_REMINDER_DEFAULTS
from people.models import CustomFieldTemplate, Group, Person, RelationshipType
from people.models.dates import YEAR_UNKNOWN
from people.models.groups import pick_color
from people.photos.files import store_photo
from people.photos.images import make_photo
from people.services.custom_fields import create_template
from people.services.groups import create_group
from people.services.person_writer import create_person
from relationships.services.relationships import create_relationship

HOUSEHOLD_SIZE = 4
# So that 12 people have one of each.
FAVOURITE_EVERY, QUIET_EVERY = 10, 11
NICKNAME = 3  # letters; nobody is called by the whole name or all but one letter of it

_GIVEN_NAMES = """
Amara Anton Beatriz Björn Chidi Clara Daichi Elif Esra Farid Freya Gustav Hana Henri Ida Inés Ivo Jada Jonas Kaito
Kwame Lea Leila Luca Maja Malik Mei Mika Nadia Nils Noor Olga Oskar Paula Priya Rafael Rania Rui Sanna Sora Stella
Tariq Thea Tomás Ulla Vera Wei Yara Yusuf Zoë
"""
_SURNAMES = """
Andersen Bauer Castillo Dubois Eriksen Fischer García Haddad Ivanova Jansen Kowalski Larsen Moreau Nakamura Okafor
Petrov Quist Rossi Sato Tanaka Ueda Vogel Weber Xu Yılmaz Zhang
"""
GIVEN_NAMES, SURNAMES = _GIVEN_NAMES.split(), _SURNAMES.split()
CITIES = (
    ("Oslo", "Norway", 59.91, 10.75),
    ("Berlin", "Germany", 52.52, 13.40),
    ("Kyoto", "Japan", 35.01, 135.77),
    ("Sevilla", "Spain", 37.39, -5.99),
    ("Accra", "Ghana", 5.60, -0.19),
)
COMPANIES = ("Nordlicht Optik", "Tall Ships Bakery", "Meridian Maps", "Blue Door Press", "Kintsugi Works")
JOBS = ("Nurse", "Engineer", "Teacher", "Baker", "Translator", "Carpenter", "Editor", "Cartographer", "Physicist")
NOTES = (
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
    "Neighbours": {},
}
"""By name, with their rules."""
SHIRT_SIZES = ["S", "M", "L"]
USER_RELATIONSHIPS = ("FRIEND", "COLLEAGUE", "RELATIVE", "ACQUAINTANCE", "SIBLING")


def get_or_create_account(password: str) -> tuple[User, bool]:
    """Return the demo account, and whether it is new. An existing account keeps its password."""
    user = User.objects.with_proven_email(DEMO_EMAIL).first()
    if user:
        return user, False
    now = timezone.now()
    user = User.objects.create_user(
        DEMO_EMAIL, password, name="Demo", proven_email=DEMO_EMAIL, claimed_at=now, **NEW_ACCOUNT
    )
    with account_write(user):
        start_account(user.pk)
    return user, True


class DemoSeeder:
    """Adds people to an account until it has `size`, those in the trash included. All are connected with each other."""

    def __init__(self, owner: User, size: int) -> None:
        self.owner, self.size, self.now = owner, size, timezone.now()

    def run(self) -> Iterator[int]:
        """Yield the number of people that are there already, and then of each household that is written."""
        start = Person.objects.owned_by(self.owner).count()
        yield min(start, self.size)
        self.rng = random.Random(start)  # noqa: S311 - a demo, not a secret
        self.heads = list(Person.objects.owned_by(self.owner).active())
        self._prepare_account()
        for number in range(start, self.size, HOUSEHOLD_SIZE):
            members = list(self._members(range(number, min(number + HOUSEHOLD_SIZE, self.size))))
            # Before the transaction: images take long, and the account would be locked meanwhile.
            jpegs = [make_photo(_draw_portrait(data)) if self.rng.random() < 0.6 else None for data in members]
            with account_write(self.owner):
                people = [self._create_person(data, jpeg) for data, jpeg in zip(members, jpegs, strict=True)]
                self._relate(people)
            self.heads.append(people[0])
            yield len(people)

    def _prepare_account(self) -> None:
        self.types = {row.name: row for row in RelationshipType.objects.owned_by(self.owner).active()}
        self.groups = list(Group.objects.owned_by(self.owner).active()) or [
            create_group(
                owner=self.owner, data={"name": name, "color": pick_color(name), **rule}, people=[], now=self.now
            )
            for name, rule in GROUPS.items()
        ]
        shirt: JsonObject = {"name": "Shirt size", "type": "SELECT", "options": SHIRT_SIZES}
        templates = CustomFieldTemplate.objects.owned_by(self.owner).active()
        self.shirt = templates.filter(name=shirt["name"]).first() or create_template(
            owner=self.owner, data=shirt, now=self.now
        )

    def _members(self, numbers: range) -> Iterator[JsonObject]:
        """The fields of a couple and their two children. The first knows the user, in three of four households."""
        rng = self.rng
        surname, (city, country, *place) = rng.choice(SURNAMES), rng.choice(CITIES)
        street = f"{rng.choice(SURNAMES)}gata {rng.randint(1, 90)}"
        wedding = self._date("ANNIVERSARY", years=rng.randint(1, 20))
        for position, number in enumerate(numbers):
            name, is_child = rng.choice(GIVEN_NAMES), position >= 2
            knows_the_user = position == 0 and (number == 0 or rng.random() < 0.75)
            birthday = self._date("BIRTHDAY", years=rng.randint(1, 17) if is_child else rng.randint(25, 80))
            yield {
                "name": name,
                "surname": surname,
                "nickname": name[:NICKNAME] if rng.random() < 0.2 and len(name) > NICKNAME + 1 else None,
                "addresses": [{"type": "home", "streetLine1": street, "locality": city, "country": country}],
                "important_dates": [birthday] if is_child else [birthday, wedding],
                "notes": rng.choice(NOTES) if rng.random() < 0.5 else None,
                "favourite": number % FAVOURITE_EVERY == 0,
                "quiet": number % QUIET_EVERY == QUIET_EVERY - 1,
                "groups": [self.groups[number % len(self.groups)]] if rng.random() < 0.75 else [],
                "relationship_to_user": self.types.get(rng.choice(USER_RELATIONSHIPS)) if knows_the_user else None,
                "custom_field_values": [{"template": self.shirt, "value": rng.choice(SHIRT_SIZES)}] if is_child else [],
                "locations": [] if position else [self._location(street, *place)],
                **({} if is_child else self._adult_fields(number, name, surname)),
            }

    def _date(self, type_: str, *, years: int) -> JsonObject:
        rng, day = self.rng, self.now.date() - dt.timedelta(days=365 * years + self.rng.randint(0, 364))
        year_unknown = rng.random() < 0.2
        return {
            **{key.column: key.empty for key in DATE_KEYS},
            **(DATE_REMINDER_DEFAULTS if rng.random() < 0.6 else {}),
            "type": type_,
            "date": day.replace(year=YEAR_UNKNOWN) if year_unknown else day,
            "year_unknown": year_unknown,
        }

    def _location(self, label: str, latitude: float, longitude: float) -> JsonObject:
        near = [round(value + self.rng.uniform(-0.05, 0.05), 5) for value in (latitude, longitude)]
        return {"type": "home", "latitude": near[0], "longitude": near[1], "label": label}

    def _adult_fields(self, number: int, name: str, surname: str) -> JsonObject:
        rng, digits = self.rng, f"{number:07d}"
        has_reminder = rng.random() < 0.25
        return {
            "emails": [{"type": "home", "email": f"{fold(name)}.{fold(surname)}{number}@demo.example"}],
            "phone_numbers": [{"type": "mobile", "number": f"+47 4{digits[:2]} {digits[2:4]} {digits[4:]}"}],
            "organization": rng.choice(COMPANIES) if rng.random() < 0.7 else None,
            "job_title": rng.choice(JOBS),
            "last_contact": self.now.date() - dt.timedelta(days=rng.randint(0, 120)),
            "contact_reminder_enabled": has_reminder,
            "contact_reminder_interval": rng.randint(1, 6) if has_reminder else None,
            "contact_reminder_interval_unit": "MONTHS" if has_reminder else None,
        }

    def _create_person(self, data: JsonObject, jpeg: bytes | None) -> Person:
        person = create_person(owner=self.owner, data=data, now=self.now)
        if jpeg:
            person.photo = store_photo(owner_id=self.owner.pk, jpeg=jpeg)
            person.save(update_fields=["photo"])
        return person

    def _relate(self, people: list[Person]) -> None:
        """The family to each other, and its first member to one of an earlier household: so all are connected."""
        head, *others = people
        if self.heads:
            self._create_relationship(head, self.rng.choice(self.heads), "FRIEND")
        for position, person in enumerate(others, start=1):
            kinds = ["SPOUSE", "CHILD", "CHILD"]
            self._create_relationship(person, head, kinds[position - 1])
            if position >= 2:
                self._create_relationship(person, people[1], "CHILD")
        if len(people) == HOUSEHOLD_SIZE:
            self._create_relationship(people[3], people[2], "SIBLING")

    def _create_relationship(self, person: Person, related: Person, type_name: str) -> None:
        kind = self.types.get(type_name)
        create_relationship(
            owner=self.owner,
            person_id=person.pk,
            related_person_id=related.pk,
            type_id=kind.pk if kind else None,
            now=self.now,
        )


def _draw_portrait(data: JsonObject) -> bytes:
    """Return a PNG with the person's initials on a colour."""
    image = Image.new("RGB", (256, 256), pick_color(data["name"] + data["surname"]))
    initials = data["name"][0] + data["surname"][0]
    ImageDraw.Draw(image).text((128, 128), initials, fill="white", anchor="mm", font=ImageFont.load_default(104))
    out = BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


class Command(ServiceCommand):
    help = f"Make the account {DEMO_EMAIL} with people who know each other. Run again, it adds what is missing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--people", type=int, default=60, metavar="N", help="how many people (60)")
        parser.add_argument("--password", help="the password of a new account; else one is made up and shown")

    def handle(self, *, people: int, password: str | None, **options: object) -> None:
        if people < 0:
            raise CommandError("--people: at least 0.")
        password = password or secrets.token_urlsafe(12)
        owner, is_new = get_or_create_account(password)
        with tqdm(total=people, unit=" people", disable=None) as bar:
            for done in DemoSeeder(owner, people).run():
                bar.update(done)
        if is_new:
            self.stdout.write(f"Sign in as {DEMO_EMAIL} with the password {password}")
        else:
            self.stdout.write(f"{DEMO_EMAIL} was there already; its password stays.")
