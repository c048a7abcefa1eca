"""Groups and custom fields: made, changed, used for all at once, deleted and brought back; offline too."""

from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from accounts.models import User
from people.models import CustomFieldTemplate, Group, Interaction, Membership, Person
from tests.builders import make_person
from tests.client import Client
from tests.web.conftest import Web
from tests.web.test_accessibility import violations
from tests.web.test_tasks import KEEP_CALLS

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]


@pytest.fixture
def choir(alice: User, elsewhere: Client) -> str:
    """The id of a group with Ada and Ben, who have an e-mail address each; Carl is in no group."""
    make_person(alice, name="Carl")
    ids = []
    for name in ("Ada", "Ben"):
        person = make_person(alice, name=name)
        elsewhere.ok("PUT", f"/api/people/{person.pk}", {"emails": [{"email": f"{name.lower()}@example.org"}]})
        ids.append(str(person.pk))
    group = elsewhere.ok("POST", "/api/groups", {"name": "Choir", "peopleIds": ids}, status=201)
    return str(group["group"]["id"])


def members(group: str) -> set[str]:
    return set(Membership.unscoped.filter(group=UUID(group)).values_list("person__name", flat=True))


def test_group_is_made_filled_and_renamed_offline(web: Web, alice: User) -> None:
    make_person(alice, name="Ada")
    context = web.context()
    page = web.open("/custom-fields", context)  # what is loaded before the network goes
    page.goto("/app/groups")
    web.synced(page)
    page.get_by_label("New group").fill("Choir")
    page.get_by_role("button", name="Add", exact=True).last.click()
    expect(page.get_by_role("heading", name="Choir")).to_be_visible()
    context.set_offline(True)
    web.chromium.complaints.expected.append("ERR_INTERNET_DISCONNECTED")
    page.keyboard.press("a")
    page.get_by_role("combobox", name="Who").fill("ada")
    page.keyboard.press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_role("main").get_by_role("link", name="Ada")).to_be_visible()
    page.keyboard.press("e")
    page.get_by_label("Name of the group").fill("Choir of May")
    page.get_by_label("Description").fill("Mondays")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Choir of May")).to_be_visible()
    assert not Group.unscoped.filter(name="Choir of May").exists()
    context.set_offline(False)
    web.eventually(page, Group.unscoped.filter(name="Choir of May", description="Mondays").exists)
    web.eventually(page, lambda: members(str(Group.unscoped.get().pk)) == {"Ada"})


def test_name_that_is_taken_is_said_before_it_is_sent(web: Web, choir: str) -> None:
    page = web.open("/groups")
    page.get_by_label("New group").fill("choir")
    expect(page.get_by_text("There is a group of this name.")).to_be_visible()
    expect(page.get_by_role("button", name="Add", exact=True).last).to_be_disabled()


def test_all_of_a_group_at_once(web: Web, choir: str, tmp_path: Path) -> None:
    page = web.open(f"/groups/{choir}")
    write = page.get_by_role("link", name="Write to 2 people")
    expect(write).to_have_attribute("href", "mailto:?bcc=ada%40example.org,ben%40example.org")
    assert violations(page) == []
    with page.expect_download() as download:
        page.get_by_role("button", name="More about Choir").click()
        page.get_by_role("menuitem", name="Download as vCards").click()
    download.value.save_as(tmp_path / "choir.vcf")
    cards = (tmp_path / "choir.vcf").read_text()
    assert download.value.suggested_filename == "Choir.vcf"
    assert [line for line in cards.splitlines() if line.startswith("FN")] == ["FN:Ada", "FN:Ben"]
    page.get_by_role("link", name="Log a contact with all").click()
    expect(page.get_by_role("button", name="Remove Ben")).to_be_visible()
    page.get_by_role("button", name="Save").click()
    web.eventually(page, Interaction.unscoped.exists)
    assert Interaction.unscoped.get().participations.count() == 2


def test_rule_is_written_to_all(web: Web, choir: str) -> None:
    page = web.open(f"/groups/{choir}")
    expect(page.get_by_text("2 people", exact=True)).to_be_visible()
    page.keyboard.press("e")
    page.get_by_label("Remind me to get in touch with whoever joins").select_option("3 MONTHS")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("To get in touch: Every three months")).to_be_visible()
    page.get_by_role("button", name="Write it to all who are in the group").click()
    expect(page.get_by_text("2 people were changed.")).to_be_visible()
    assert Person.unscoped.filter(contact_reminder_enabled=True, contact_reminder_interval=3).count() == 2


def test_letters_to_the_group_are_reached_from_its_page(web: Web, choir: str) -> None:
    page = web.open(f"/groups/{choir}")
    page.get_by_role("main").get_by_role("link", name="Letters").click()
    expect(page.get_by_role("heading", name="Letters", level=1)).to_be_visible()
    expect(page.get_by_label("Choir")).to_be_checked()


def test_faces_the_next_dates_and_what_there_was(web: Web, choir: str, alice: User, elsewhere: Client) -> None:
    ada = str(Person.unscoped.get(name="Ada").pk)
    soon = (timezone.now() + timedelta(days=20)).date()
    day = {"type": "BIRTHDAY", "date": f"1990-{soon:%m-%d}"}
    elsewhere.ok("POST", f"/api/people/{ada}/important-dates", day)
    for who, title in ((ada, "Rehearsal"), (str(make_person(alice, name="Cy").pk), "Chess")):
        entry = {"personIds": [who], "kind": "MEETING", "title": title, "at": timezone.now().isoformat()}
        elsewhere.ok("POST", "/api/interactions", entry, status=201)
    page = web.open(f"/groups/{choir}")
    expect(page.get_by_role("main").get_by_role("link", name="Ada", exact=True)).to_be_visible()
    expect(page.get_by_role("heading", name="Next dates")).to_be_visible()
    expect(page.get_by_role("link", name="Ada turns")).to_be_visible()
    # What there was with any of them, and nothing of others.
    together = page.get_by_role("region", name="Together")
    expect(together.get_by_role("listitem")).to_have_count(1)
    expect(together).to_contain_text("Rehearsal")
    expect(together).to_contain_text("with Ada")
    page.evaluate(KEEP_CALLS)
    page.keyboard.press("w")
    expect(page).to_have_title("mailto:?bcc=ada%40example.org,ben%40example.org")
    assert violations(page) == []
    page.get_by_role("button", name="List", exact=True).click()
    expect(page.get_by_role("row")).to_have_count(2)
    page.reload()
    expect(page.get_by_role("row")).to_have_count(2)


def test_person_is_taken_out_and_back(web: Web, choir: str) -> None:
    page = web.open(f"/groups/{choir}")
    page.get_by_role("button", name="List", exact=True).click()
    page.get_by_role("button", name="Take Ada out of the group").click()
    expect(page.get_by_role("row")).to_have_count(1)
    web.eventually(page, lambda: members(choir) == {"Ben"})
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("row")).to_have_count(2)
    web.eventually(page, lambda: members(choir) == {"Ada", "Ben"})


def test_group_is_deleted_and_brought_back(web: Web, choir: str) -> None:
    page = web.open(f"/groups/{choir}")
    page.get_by_role("button", name="More about Choir").click()
    page.get_by_role("menuitem", name="Delete the group").click()
    expect(page.get_by_role("heading", name="Groups")).to_be_visible()
    web.eventually(page, lambda: not Group.unscoped.filter(deleted_at=None).exists())
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("main").get_by_role("link", name="Choir")).to_contain_text("2 people")
    web.eventually(page, Group.unscoped.filter(deleted_at=None).exists)


def test_custom_fields_are_made_ordered_renamed_and_deleted(web: Web) -> None:
    page = web.open("/custom-fields")
    for name, kind in (("Shoe size", "NUMBER"), ("Diet", "SELECT")):
        page.get_by_role("button", name="New field").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Name of the field").fill(name)
        dialog.get_by_label("What it holds").select_option(kind)
        if kind == "SELECT":
            dialog.get_by_label("Options, one a line").fill("Vegan\nAnything")
        dialog.get_by_role("button", name="Save").click()
        expect(dialog).to_have_count(0)
    page.get_by_role("button", name="Move Diet up").click()
    expect(page.get_by_role("listitem").filter(has_text="Vegan").first).to_contain_text("One of several")
    assert violations(page) == []
    web.eventually(page, lambda: names() == ["Diet", "Shoe size"])
    page.get_by_role("button", name="Change Diet").click()
    assert violations(page) == []
    page.get_by_label("Options, one a line").fill("Vegan\nEverything")
    page.keyboard.press("Escape")  # what was typed last is saved, too
    expect(page.get_by_text("Vegan, Everything")).to_be_visible()
    page.get_by_role("button", name="Delete Shoe size").click()
    web.eventually(page, lambda: names() == ["Diet"])
    assert CustomFieldTemplate.unscoped.get(name="Diet").options == ["Vegan", "Everything"]
    page.get_by_role("button", name="Undo").click()
    web.eventually(page, lambda: names() == ["Diet", "Shoe size"])


def names() -> list[str]:
    rows = CustomFieldTemplate.unscoped.filter(deleted_at=None).order_by("position")
    return list(rows.values_list("name", flat=True))
