"""What the programs of these tests find in the service, and what must hold of it after what they do."""

from typing import Any

from accounts.models import User
from people.models import Interaction, Person
from tests.client import client_of
from tests.dav.devices import Device
from tests.dav.rich import RICH
from tests.dav.test_calendars import make_born, make_friend

FRIEND, BORN = "Ann", "Bo"


def seed(user: User) -> Device:
    """The card of the measurements, a friend to be in touch with, a birthday; returns the device that sent the card."""
    first, api = Device(user), client_of(user)
    assert first.put("u-rich-1.vcf", RICH).status_code == 201
    make_friend(api, FRIEND)
    make_born(api, BORN)
    return first


def names(user: User) -> list[str]:
    """The given names of the people who are not in the trash."""
    return sorted(Person.objects.owned_by(user).active().values_list("name", flat=True))


def person_named(user: User, name: str) -> dict[str, Any]:
    row = Person.objects.owned_by(user).active().get(name=name)
    return dict(client_of(user).ok("GET", f"/api/people/{row.pk}")["person"])


def interactions(user: User, name: str) -> int:
    people = Person.objects.owned_by(user).filter(name=name).values("pk")
    return Interaction.objects.owned_by(user).active().of_people(people).count()
