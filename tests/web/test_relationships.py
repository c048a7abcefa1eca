"""Relationship types with both sides, and suggestions that are accepted or dismissed many at once."""

import pytest
from playwright.sync_api import expect

from accounts.models import User
from people.models import Person, RelationshipType
from relationships.models import Relationship
from tests.builders import make_person
from tests.client import Client
from tests.web.conftest import Web
from tests.web.test_accessibility import violations

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]


def test_type_is_made_with_its_other_side_changed_and_deleted(web: Web) -> None:
    page = web.open("/relationships")
    page.get_by_role("button", name="New type").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("What somebody is to the other").fill("Mentor")
    dialog.get_by_label("Name of the other type").fill("Student")
    expect(dialog.get_by_text("Anna is Mentor of Ben. Ben is Student of Anna.")).to_be_visible()
    assert violations(page) == []
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_text("the other one is Student")).to_be_visible()
    mentor = RelationshipType.unscoped.get(name="MENTOR")
    assert mentor.inverse is not None
    assert mentor.inverse.label == "Student"
    page.get_by_role("button", name="Change Mentor").click()
    dialog.get_by_label("What somebody is to the other").fill("Teacher")
    dialog.get_by_label("What somebody is to the other").blur()
    web.eventually(page, RelationshipType.unscoped.filter(label="Teacher").exists)
    dialog.get_by_label("Colour").fill("#112233")
    web.eventually(page, RelationshipType.unscoped.filter(label="Teacher", color="#112233").exists)
    # An undo takes back the last change, and shows it.
    page.get_by_role("button", name="Undo").click()
    expect(dialog.get_by_label("Colour")).not_to_have_value("#112233")
    expect(dialog.get_by_label("What somebody is to the other")).to_have_value("Teacher")
    web.eventually(page, lambda: not RelationshipType.unscoped.filter(color="#112233").exists())
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    web.synced(page)
    page.get_by_role("button", name="Delete Teacher").click()
    expect(page.get_by_text("Teacher is in the trash.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    web.eventually(page, RelationshipType.unscoped.filter(label="Teacher", deleted_at=None).exists)
    assert violations(page) == []


def test_type_in_use_is_not_deleted_and_it_is_said(web: Web, alice: User, elsewhere: Client) -> None:
    ada, ben = make_person(alice, name="Ada"), make_person(alice, name="Ben")
    kind = RelationshipType.unscoped.get(owner=alice, name="FRIEND")
    pair = {"personId": str(ada.pk), "relatedPersonId": str(ben.pk), "relationshipTypeId": str(kind.pk)}
    elsewhere.ok("POST", "/api/relationships", pair)
    web.chromium.complaints.expected.append("status of 4")
    page = web.open("/relationships")
    page.get_by_role("button", name=f"Delete {kind.label}").click()
    expect(page.get_by_text("This relationship type is in use.")).to_be_visible()
    expect(page.get_by_role("button", name=f"Delete {kind.label}")).to_be_visible()


@pytest.fixture
def household(alice: User, elsewhere: Client) -> list[Person]:
    """Three people with one address and one surname: three likely pairs."""
    people = [make_person(alice, name=name, surname="Meier") for name in ("Ada", "Ben", "Carl")]
    address = {"streetLine1": "Ringstrasse 12", "postalCode": "8001", "locality": "Zürich", "country": "CH"}
    for person in people:
        elsewhere.ok("PUT", f"/api/people/{person.pk}", {"addresses": [{"type": "home", **address}]})
    return people


def test_suggestions_are_dismissed_and_accepted_many_at_once(
    web: Web, household: list[Person], elsewhere: Client
) -> None:
    count = len(elsewhere.ok("GET", "/api/relationship-suggestions")["suggestions"])
    assert count > 1
    page = web.open("/relationships/suggestions")
    boxes = page.get_by_role("checkbox")
    expect(boxes).to_have_count(count)
    assert violations(page) == []
    boxes.first.check()
    page.get_by_role("button", name="Dismiss").click()
    page.get_by_role("dialog").get_by_role("button", name="Dismiss").click()
    expect(boxes).to_have_count(count - 1)
    assert not Relationship.unscoped.exists()
    page.get_by_role("button", name="Select all").click()
    page.get_by_role("button", name="Accept").click()
    expect(page.get_by_text("There is nothing to suggest.")).to_be_visible()
    assert Relationship.unscoped.count() == 2 * (count - 1)
    assert elsewhere.ok("GET", "/api/relationship-suggestions")["suggestions"] == []
