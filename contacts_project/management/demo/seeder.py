"""Writes the demo account through the services, so that its data is exactly as if a user had entered it."""

import datetime as dt
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from django.utils import timezone
from PIL import Image, ImageDraw, ImageFont

from accounts.lifecycle import start_account
from accounts.models import User
from accounts.services.registration import DEMO_EMAIL
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.management.demo.households import GROUPS, DemoPerson, demo_person, uid_of
from people.models import CustomFieldTemplate, Group, Person, RelationshipType
from people.palette import pick_color
from people.photos.files import make_photo, store_photo
from people.services.custom_templates import create_template
from people.services.group_lifecycle import create_group
from people.services.person_writer import create_person
from relationships.services.relationships import create_relationship

BATCH_SIZE = 50

_TEMPLATES: dict[str, dict[str, Any]] = {
    "Shirt size": {"type": "SELECT", "options": ["S", "M", "L"]},
    "Vegetarian": {"type": "BOOLEAN"},
}


def get_or_create_account(password: str) -> tuple[User, bool]:
    """Return the demo account, and whether it is new. An existing account keeps its password."""
    user = User.objects.with_proven_email(DEMO_EMAIL).first()
    if user:
        return user, False
    now = timezone.now()
    user = User.objects.create_user(DEMO_EMAIL, password, name="Demo", proven_email=DEMO_EMAIL, claimed_at=now)
    with account_write(user):
        start_account(user)
    return user, True


class DemoSeeder:
    """Fills an account with the first `size` people of the demo. Skips those that exist already, also in the trash."""

    def __init__(self, owner: User, size: int) -> None:
        self.owner, self.size = owner, size
        self.now = timezone.now()
        self.people: dict[str, Person] = {}

    def run(self) -> Iterator[int]:
        """Yield after each batch the number of its people, written or skipped."""
        self._load()
        for start in range(0, self.size, BATCH_SIZE):
            numbers = range(start, min(start + BATCH_SIZE, self.size))
            members = [demo_person(number, self.now.date()) for number in numbers if uid_of(number) not in self.known]
            # Before the transaction: images take long, and the account would be locked meanwhile.
            jpegs = {person.number: make_photo(_draw_portrait(person)) for person in members if person.has_photo}
            with account_write(self.owner):
                for person in members:
                    self._create_person(person, jpegs.get(person.number))
            yield len(numbers)

    def _load(self) -> None:
        rows = Person.objects.owned_by(self.owner).exclude(uid=None)
        self.known = set(rows.values_list("uid", flat=True))
        self.people = {str(person.uid): person for person in rows.active()}
        self.types = {row.name: row for row in RelationshipType.objects.owned_by(self.owner).active()}
        self.groups = {row.name: row for row in Group.objects.owned_by(self.owner).active()}
        for name, rule in GROUPS.items():
            if name not in self.groups:
                data = {"name": name, "color": pick_color(name), **rule}
                self.groups[name] = create_group(owner=self.owner, data=data, people=[], now=self.now)
        self.templates = {row.name: row for row in CustomFieldTemplate.objects.owned_by(self.owner).active()}
        for name, template in _TEMPLATES.items():
            if name not in self.templates:
                data = {"name": name, **template}
                self.templates[name] = create_template(owner=self.owner, data=data, now=self.now)

    def _create_person(self, demo: DemoPerson, jpeg: bytes | None) -> None:
        values = {"Shirt size": demo.shirt, "Vegetarian": demo.is_vegetarian}
        data: dict[str, Any] = {
            **demo.data,
            "groups": [self.groups[name] for name in demo.groups],
            "relationship_to_user": self.types.get(demo.relationship_to_user or ""),
            "custom_field_values": [
                {"template": self.templates[name], "value": value} for name, value in values.items()
            ],
        }
        # A second apart, in the order of their numbers, for lists that are sorted by time.
        created_at = self.now - dt.timedelta(seconds=self.size - demo.number)
        person = create_person(owner=self.owner, data=data, now=created_at)
        if jpeg:
            person.photo = store_photo(owner_id=self.owner.pk, jpeg=jpeg)
            person.save(update_fields=["photo"])
        self.people[demo.uid] = person
        for number, type_name in demo.relationships:
            if other := self.people.get(uid_of(number)):
                kind = self.types.get(type_name)
                create_relationship(
                    owner=self.owner,
                    person_id=person.pk,
                    related_person_id=other.pk,
                    type_id=kind.pk if kind else None,
                    notes=None,
                    now=self.now,
                )


def _draw_portrait(person: DemoPerson) -> bytes:
    """Return a PNG with the initials on the person's colour, which becomes darker towards the bottom."""
    image = Image.new("RGB", (256, 256), pick_color(person.uid))
    shade = Image.linear_gradient("L").point(lambda value: 40 + value // 3)
    image.paste("#1a2230", mask=shade)
    initials = person.data["name"][0] + person.data["surname"][0]
    ImageDraw.Draw(image).text((128, 128), initials, fill="white", anchor="mm", font=ImageFont.load_default(104))
    out = BytesIO()
    image.save(out, "PNG")
    return out.getvalue()
