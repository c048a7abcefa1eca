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


def people_left() -> int:
    return Person.unscoped.filter(deleted_at=None).count()


def test_duplicates_are_joined_field_by_field_and_taken_back(web: Web, twins: tuple[Person, Person]) -> None:
    one, _other = twins
    page = web.open("/duplicates")
    expect(page.get_by_role("heading", name="Is this one person?")).to_be_visible()
    expect(page.get_by_role("grid", name="Pairs")).to_contain_text("same mail address · same name")
    expect(page.get_by_text("+44 20 1234")).to_be_visible()
    expect(page.get_by_text("from the second")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("group", name="Gender").get_by_role("button", name="B", exact=True).click()
    page.get_by_role("group", name="Notes").get_by_role("button", name="Both, one after the other").click()
    assert violations(page) == []
    page.wait_for_timeout(300)  # a draft is written after a moment
    page.reload()
    chosen = page.get_by_role("group", name="Gender").get_by_role("button", name="B", exact=True)
    expect(chosen).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Join them").click()
    expect(page.get_by_text("All tidy")).to_be_visible()
    merged = Person.unscoped.get(deleted_at=None)
    assert (merged.pk, merged.gender, merged.notes) == (one.pk, "B", "Counts\n\nWrites")
    assert [each["number"] for each in merged.phone_numbers] == ["+44 20 1234"]
    page.reload()
    page.get_by_role("button", name="Take back: Ada Lovelace").click()
    web.eventually(page, lambda: people_left() == 2)
    one.refresh_from_db()
    assert (one.gender, one.notes) == ("A", "Counts")
    expect(page.get_by_role("button", name="Join them")).to_be_visible()
    expect(page.get_by_role("button", name="Take back: Ada Lovelace")).to_have_count(0)
    page.goto("/app/people")
    expect(page.get_by_role("row")).to_have_count(2)


def test_a_join_that_was_taken_back_is_not_listed_as_one_that_cannot_be(
    web: Web, twins: tuple[Person, Person], elsewhere: Client
) -> None:
    one, other = twins
    pair = {"primaryId": str(one.pk), "secondaryId": str(other.pk)}
    merge = elsewhere.ok("POST", "/api/people/merge", pair)["mergeId"]
    elsewhere.ok("POST", f"/api/people/merge/{merge}/undo")
    page = web.open("/duplicates")
    expect(page.get_by_role("button", name="Join them")).to_be_visible()
    page.get_by_text("Joined lately, and two others").click()
    expect(page.get_by_role("heading", name="Two others who are one")).to_be_visible()
    expect(page.get_by_role("heading", name="Joined lately")).to_have_count(0)
    expect(page.get_by_text("cannot be taken back any more")).to_have_count(0)


def test_default_choices_are_those_of_the_service(web: Web, twins: tuple[Person, Person], elsewhere: Client) -> None:
    """What is chosen at first is what the service does unasked, and what one has alone is kept."""
    one, other = twins
    body = {"favourite": True, "quiet": False, "contactReminderEnabled": True, "contactReminderInterval": 2}
    elsewhere.ok("PUT", f"/api/people/{other.pk}", body)
    page = web.open(f"/duplicates/compare?one={one.pk}&other={other.pk}")
    for name, text in (("Favourite", "Yes"), ("Gender", "A"), ("Notes", "Counts")):
        chosen = page.get_by_role("group", name=name).get_by_role("button", pressed=True)
        expect(chosen).to_have_text(text)
    expect(page.get_by_text("Reminder to get in touch: ")).to_contain_text("2")
    page.get_by_role("button", name="Join them").click()
    web.eventually(page, lambda: people_left() == 1)
    one.refresh_from_db()
    assert (one.favourite, one.contact_reminder_interval, one.notes) == (True, 2, "Counts")


def test_keys_choose_the_second_and_the_next_pair_comes(web: Web, twins: tuple[Person, Person], alice: User) -> None:
    one, _other = twins
    for _ in range(2):
        make_person(alice, name="Charles", surname="Babbage")
    page = web.open("/duplicates")
    expect(page.get_by_text("1 of 2")).to_be_visible()
    names = page.locator(".decision-sides")
    expect(names).to_contain_text("Ada Lovelace")  # the most similar first
    page.keyboard.press("ArrowRight")
    expect(names).to_contain_text("Charles Babbage")
    page.keyboard.press("ArrowRight")
    expect(names).to_contain_text("Ada Lovelace")
    page.keyboard.press("2")
    chosen = page.get_by_role("group", name="Gender").get_by_role("button", name="B", exact=True)
    expect(chosen).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Enter")
    expect(names).to_contain_text("Charles Babbage")
    page.keyboard.press("d")
    expect(page.get_by_text("All tidy")).to_be_visible()
    one.refresh_from_db()
    assert (one.gender, one.notes) == ("B", "Writes")
    assert people_left() == 3


def test_a_chain_is_shown_as_its_pairs(web: Web, elsewhere: Client) -> None:
    """Each is decided alone, the most similar first."""
    for surname, email in (("Hofmann", "vera@example.org"), ("Hoffmann", "vera@example.org"), ("Hoffmann", None)):
        body = {"name": "Vera", "surname": surname, "emails": [{"email": email}] if email else []}
        elsewhere.ok("POST", "/api/people", body, status=201)
    (group,) = elsewhere.ok("GET", "/api/people/duplicates")["groups"]
    assert len(group["people"]) == 3
    page = web.open("/duplicates")
    pairs = page.get_by_role("grid", name="Pairs").get_by_role("row")
    expect(pairs).to_have_count(3)
    expect(pairs.first).to_contain_text("same mail address")
    page.get_by_role("button", name="They are two").click()
    expect(pairs).to_have_count(2)
    page.get_by_role("button", name="Join them").click()
    # Of three people two are left, whom nobody takes for one any more.
    expect(page.get_by_text("All tidy")).to_be_visible(timeout=10_000)
    assert people_left() == 2


def test_different_people_are_not_suggested_again(web: Web, twins: tuple[Person, Person], elsewhere: Client) -> None:
    page = web.open("/duplicates")
    page.get_by_role("button", name="They are two").click()
    expect(page.get_by_text("Nobody seems to be here twice.")).to_be_visible()
    assert elsewhere.ok("GET", "/api/people/duplicates")["groups"] == []
    page.get_by_role("button", name="Compare them after all").click()
    expect(page.get_by_role("heading", name="Is this one person?")).to_be_visible()


def test_without_a_network_it_says_so(web: Web, twins: tuple[Person, Person]) -> None:
    web.chromium.complaints.expected += ["ERR_INTERNET_DISCONNECTED", "Failed to fetch"]
    context = web.context()
    page = web.open("/duplicates", context)
    expect(page.get_by_role("button", name="Join them")).to_be_enabled()
    context.set_offline(True)
    expect(page.get_by_text("Without a network two people cannot be joined.")).to_be_visible()
    expect(page.get_by_role("button", name="Join them")).to_be_disabled()
    context.set_offline(False)
    expect(page.get_by_role("button", name="Join them")).to_be_enabled()


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
        expect(page.get_by_text("Nothing of this kind was deleted lately.")).to_be_visible()
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
    expect(page.get_by_text("Nothing of this kind was deleted lately.")).to_be_visible()
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
    expect(page.get_by_text("Nothing of this kind was deleted lately.")).to_be_visible()
