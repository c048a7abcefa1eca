"""`make pictures`: pictures of the client's pages, in both colour schemes and three widths, to be looked at.

They are written to the folder that PICTURES names (default: build/pictures); those of README and docs/web.md to docs.
"""

import os
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from accounts.models import User
from contacts_project.management.commands.seed_demo import DemoSeeder
from people.models import Group, Person
from tests import ROOT
from tests.web.conftest import Web

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

FOLDER = Path(os.environ.get("PICTURES", "build/pictures"))
DOCS = ROOT / "docs"
WIDTHS = {"phone": (390, 844), "tablet": (820, 1180), "desk": (1440, 900)}
SCHEMES = ("light", "dark")
DOCS_PICTURES = {
    "web-people.png": ("light", (1280, 800), "/people/{person}"),
    "web-person.png": ("dark", (390, 844), "/people/{person}"),
    "web-today.png": ("light", (1280, 860), "/"),
    "web-list.png": ("light", (390, 844), "/people"),
}
MAX_DOCS_BYTES = 300_000
PATHS = {
    "start": "/",
    "people": "/people",
    "person": "/people/{person}",
    "new-person": "/people/new",
    "log": "/log?person={person}",
    "dates": "/dates",
    "year": "/dates?view=year",
    "insights": "/dates?view=insights",
    "groups": "/groups",
    "group": "/groups/{group}",
    "network": "/network",
    "their-network": "/people/{person}/network?steps=2",
    "map": "/map",
    "relationships": "/relationships",
    "custom-fields": "/custom-fields",
    "duplicates": "/duplicates",
    "devices": "/devices",
    "calendar-feeds": "/calendar-feeds",
    "calendars": "/calendars",
    "meetings": "/meetings",
    "letters": "/letters",
    "notifications": "/notifications",
    "carddav": "/carddav",
    "import": "/import",
    "trash": "/trash",
    "unsent": "/unsent",
    "account": "/account",
    "settings": "/settings",
    "preferences": "/account/preferences",
    "security": "/account/security",
    "data": "/account/data",
    "more": "/more",
}


@pytest.fixture
def person(alice: User) -> Person:
    list(DemoSeeder(alice, 120).run())
    known = Person.objects.owned_by(alice).active().exclude(last_contact=None)
    found: Person = known.filter(favourite=True, phone_numbers__isnull=False).order_by("name")[0]
    return found


def test_pictures(web: Web, person: Person) -> None:
    group = Group.unscoped.order_by("name")[0]
    only = os.environ.get("ONLY", "").split(",")
    for scheme in SCHEMES:
        context = web.context(color_scheme=scheme, reduced_motion="reduce")
        page = web.open("/", context)
        web.synced(page)
        for name, path in PATHS.items():
            if only != [""] and name not in only:
                continue
            open_path(page, path.format(person=person.pk, group=group.pk))
            for width, (x, y) in WIDTHS.items():
                page.set_viewport_size({"width": x, "height": y})
                page.wait_for_timeout(150)
                target = FOLDER / f"{name}-{scheme}-{width}.png"
                page.screenshot(path=target)


def test_pictures_of_the_docs(web: Web, person: Person) -> None:
    for name, (scheme, (width, height), path) in DOCS_PICTURES.items():
        page = web.open("/", web.context(color_scheme=scheme))
        page.set_viewport_size({"width": width, "height": height})
        web.synced(page)
        open_path(page, path.format(person=person.pk))
        picture = Image.open(BytesIO(page.screenshot()))
        picture.convert("RGB").quantize(256, kmeans=1).save(DOCS / name, optimize=True)
    assert sum((DOCS / name).stat().st_size for name in DOCS_PICTURES) <= MAX_DOCS_BYTES


def open_path(page: Page, path: str) -> None:
    page.goto(f"/app{path}")
    expect(page.locator("h1")).to_be_visible()
    expect(page.locator("[data-layout=moving]")).to_have_count(0, timeout=30_000)
    page.wait_for_timeout(300)
