"""Clean up: duplicates are compared, merged and taken back, or dismissed; the trash restores all kinds."""

import pytest
from playwright.sync_api import expect

from accounts.models import User
from people.models import Group, ImportantDate, Interaction, Person
from tests.builders import make_person
from tests.client import Client
from tests.web.conftest import Web
from tests.web.test_accessibility import violations

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]


@pytest.fixture
def twins(alice: User, elsewhere: Client) -> tuple[Person, Person]:
    """Two records of Ada, who differ in notes and gender; the second one has the phone number."""
    own = (
        {"gender": "A", "notes": "Counts"},
        {"gender": "B", "notes": "Writes", "phoneNumbers": [{"number": "+44 20 1234"}]},
    )
    people = []
    for fields in own:
        person = make_person(alice, name="Ada", surname="Lovelace")
        elsewhere.ok("PUT", f"/api/people/{person.pk}", {"emails": [{"email": "ada@example.org"}], **fields})
        people.append(person)
    one, other = people
    return one, other


def test_duplicates_are_merged_field_by_field_and_taken_back(web: Web, twins: tuple[Person, Person]) -> None:
    one, _other = twins
    page = web.open("/")
    page.get_by_role("link", name="1 likely duplicate").click()
    compare = page.get_by_role("link", name="Compare and merge: Ada Lovelace")
    expect(compare).to_be_visible()
    assert violations(page) == []
    compare.click()
    page.get_by_role("group", name="Gender").get_by_label("B").check()
    page.get_by_role("group", name="Notes").get_by_label("Both, one after the other").check()
    assert violations(page) == []
    page.reload()  # what was chosen is a draft
    expect(page.get_by_role("group", name="Gender").get_by_label("B")).to_be_checked()
    page.get_by_role("button", name="Merge", exact=True).click()
    expect(page.get_by_role("link", name="Call Ada Lovelace: +44 20 1234")).to_be_visible()
    merged = Person.unscoped.get(deleted_at=None)
    assert (merged.pk, merged.gender, merged.notes) == (one.pk, "B", "Counts\n\nWrites")
    page.goto("/app/duplicates")
    page.get_by_role("button", name="Take back: Ada Lovelace").click()
    expect(page.get_by_role("link", name="Compare and merge: Ada Lovelace")).to_have_count(0)
    web.eventually(page, lambda: Person.unscoped.filter(deleted_at=None).count() == 2)
    one.refresh_from_db()
    assert (one.gender, one.notes) == ("A", "Counts")
    page.goto("/app/people")
    expect(page.get_by_role("row")).to_have_count(2)


def test_default_choices_are_those_of_the_service(web: Web, twins: tuple[Person, Person], elsewhere: Client) -> None:
    """What is chosen at first is what the service does unasked."""
    one, other = twins
    body = {"favourite": True, "quiet": False, "contactReminderEnabled": True, "contactReminderInterval": 2}
    elsewhere.ok("PUT", f"/api/people/{other.pk}", body)
    page = web.open(f"/duplicates/compare?one={one.pk}&other={other.pk}")
    checked = page.get_by_role("radio", checked=True)
    expect(checked).to_have_count(4)
    shown = [page.get_by_role("group", name=name).locator(".chosen") for name in ("Favourite", "Reminder", "Notes")]
    for choice, text in zip(shown, ("Yes", "2", "Counts"), strict=True):
        expect(choice).to_contain_text(text)
    page.get_by_role("button", name="Merge", exact=True).click()
    web.eventually(page, lambda: Person.unscoped.filter(deleted_at=None).count() == 1)
    one.refresh_from_db()
    assert (one.favourite, one.contact_reminder_interval, one.notes) == (True, 2, "Counts")


def test_different_people_are_not_suggested_again(web: Web, twins: tuple[Person, Person], elsewhere: Client) -> None:
    page = web.open("/duplicates")
    page.get_by_role("button", name="They are different people: Ada Lovelace and Ada Lovelace").click()
    expect(page.get_by_text("Nobody seems to be here twice.")).to_be_visible()
    assert elsewhere.ok("GET", "/api/people/duplicates")["groups"] == []
    page.get_by_role("button", name="Compare them after all").click()
    expect(page.get_by_role("heading", name="Compare two people")).to_be_visible()


def test_all_kinds_come_back_from_the_trash(web: Web, alice: User, elsewhere: Client) -> None:
    ada, ben = make_person(alice, name="Ada"), make_person(alice, name="Ben")
    group = elsewhere.ok("POST", "/api/groups", {"name": "Engines"}, status=201)["group"]["id"]
    day = {"type": "BIRTHDAY", "date": "1990-05-01"}
    date = elsewhere.ok("POST", f"/api/people/{ada.pk}/important-dates", day)["importantDate"]["id"]
    call = {"personIds": [str(ada.pk)], "kind": "CALL", "at": "2026-01-01T10:00:00Z"}
    interaction = elsewhere.ok("POST", "/api/interactions", call, status=201)["interaction"]["id"]
    kind = elsewhere.ok("POST", "/api/relationship-types", {"name": "RIVAL", "label": "Rival", "symmetric": True})
    pair = {"personId": str(ada.pk), "relatedPersonId": str(ben.pk), "relationshipTypeId": None, "notes": "of old"}
    relationship = elsewhere.ok("POST", "/api/relationships", pair)["relationship"]["id"]
    field = elsewhere.ok("POST", "/api/custom-field-templates", {"name": "Shoes", "type": "TEXT"}, status=201)
    for path in (
        f"groups/{group}",
        f"people/{ada.pk}/important-dates/{date}",
        f"interactions/{interaction}",
        f"relationships/{relationship}",
        f"relationship-types/{kind['relationshipType']['id']}",
        f"custom-field-templates/{field['customFieldTemplate']['id']}",
        f"people/{ben.pk}",
    ):
        elsewhere.ok("DELETE", f"/api/{path}")
    page = web.open("/trash")
    expect(page.get_by_text("1 entry.")).to_be_visible()
    assert violations(page) == []
    for kind_name, name in (
        ("People", "Ben"),
        ("Groups", "Engines"),
        ("Dates", "Birthday of Ada, 1990-05-01"),
        ("Contacts", "Call"),
        ("Relationships", "Ada is Connected of Ben"),
        ("Relationship types", "Rival"),
        ("Custom fields", "Shoes"),
    ):
        page.get_by_role("button", name=kind_name, exact=True).click()
        page.get_by_role("button", name=f"Restore: {name}").click()
        expect(page.get_by_text("0 entries.")).to_be_visible()
    assert Group.unscoped.filter(deleted_at=None).count() == 1
    assert ImportantDate.unscoped.filter(deleted_at=None).count() == 1
    assert Interaction.unscoped.filter(deleted_at=None).count() == 1
    assert elsewhere.ok("GET", "/api/relationships")["relationships"] != []
    page.goto("/app/people")
    expect(page.get_by_role("row")).to_have_count(2)


def test_what_is_removed_for_good_is_asked_first(web: Web, alice: User, elsewhere: Client) -> None:
    ada = make_person(alice, name="Ada")
    elsewhere.ok("DELETE", f"/api/people/{ada.pk}")
    page = web.open("/trash")
    page.get_by_role("button", name="Remove for good: Ada").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("1 entry.")).to_be_visible()
    page.get_by_role("button", name="Remove for good: Ada").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove for good").click()
    expect(page.get_by_text("0 entries.")).to_be_visible()
    assert not Person.unscoped.exists()


def test_what_could_not_be_read_offline_is_read_once_there_is_a_network(web: Web) -> None:
    web.chromium.complaints.expected += ["ERR_INTERNET_DISCONNECTED", "Failed to fetch"]
    context = web.context()
    page = web.open("/trash", context)
    web.synced(page)
    context.set_offline(True)
    page.get_by_role("button", name="Groups").click()
    expect(page.get_by_role("alert")).to_contain_text("There is no connection to the service.")
    context.set_offline(False)
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_text("0 entries.")).to_be_visible()
