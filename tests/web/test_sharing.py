"""People that two accounts keep together: invited by mail, reviewed, changed, asked about, held, and left.

`carry_all` does what the worker does.
"""

import re
from typing import Any
from uuid import UUID

import pytest
from django.core import mail
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import User
from people.models import Person
from sharing.carry.carrier import carry_account
from sharing.models import CopyState, Hold, HoldState, Invitation, Share, ShareConflict, SharedCopy, ShareMembership
from sharing.services.mail import send_due_invitations
from tests.builders import make_user, verify_email
from tests.client import Client, client_of
from tests.sharing.conftest import carry_all, share_people
from tests.web.conftest import PASSWORD, Web
from tests.web.test_accessibility import violations

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]


@pytest.fixture
def bob(db: None) -> User:
    bob = make_user("bob@example.org", name="Bob")
    bob.set_password(PASSWORD)
    bob.save()
    return verify_email(bob)


def add_person(client: Client, name: str, **fields: Any) -> str:
    """Returns the id."""
    person: str = client.ok("POST", "/api/people", {"name": name, **fields}, status=201)["person"]["id"]
    return person


def people_of(owner: User) -> set[str]:
    return set(Person.objects.owned_by(owner).active().values_list("name", flat=True))


def carry(web: Web, page: Page) -> None:
    """What the worker does once everything is sent."""
    web.synced(page)
    carry_all()


def check(page: Page) -> None:
    """Nothing that axe finds, and no sideways scroll on the narrowest phone."""
    page.wait_for_timeout(100)  # style sheets of the page
    assert violations(page) == []
    before = page.viewport_size
    page.set_viewport_size({"width": 320, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size(before or {"width": 1280, "height": 720})


def test_family_is_shared_by_mail_and_reviewed_with_one_key(
    web: Web, alice: User, bob: User, elsewhere: Client
) -> None:
    number = {"phoneNumbers": [{"type": "mobile", "number": "+44 20 7946 0001"}]}
    group = elsewhere.ok("POST", "/api/groups", {"name": "Family"}, status=201)["group"]["id"]
    shared = {"surname": "Lovelace", "groupIds": [group], "notes": "secret of alice"}
    ada = add_person(elsewhere, "Ada", **shared, **number)
    for name in ("Ben", "Cleo"):
        add_person(elsewhere, name, **shared)
    ada_of_bob = add_person(client_of(bob), "Ada", surname="Lovelace", notes="secret of bob", **number)
    share_group(web, group)
    send_due_invitations(now=timezone.now())
    carry_all()  # alice's people go into the share
    guest = open_invitation(web)
    expect(guest.get_by_text("1 you have already and 2 new for you")).to_be_visible()
    check(guest)
    assert people_of(bob) == {"Ada"}
    guest.get_by_role("button", name="Take part").click()
    review_all_but_cleo(guest)
    carry(web, guest)
    assert people_of(bob) == {"Ada", "Ben"}
    assert not SharedCopy.unscoped.get(state=CopyState.LINKED, owner=bob, person=UUID(ada_of_bob)).is_made_here
    assert set(Person.objects.owned_by(bob).values_list("notes", flat=True)) == {"secret of bob", None}
    # With whom, and what stays.
    guest.goto(f"/app/people/{ada_of_bob}")
    expect(guest.get_by_role("link", name="Shared with Alice")).to_be_visible()
    expect(guest.get_by_role("region", name="Notes").get_by_text("stays with you")).to_be_visible()
    check(guest)
    # A new number of alice's is there by itself, and can be taken back.
    elsewhere.ok("PUT", f"/api/people/{ada}", {"phoneNumbers": [{"type": "mobile", "number": "+44 20 7946 0999"}]})
    carry_all()
    expect(guest.get_by_role("region", name="Reach").get_by_text("+44 20 7946 0999")).to_be_visible()
    guest.get_by_role("link", name="Shared with Alice").click()
    guest.get_by_role("button", name=re.compile("Take back: Alice changed Ada Lovelace: Phone")).click()
    expect(guest.get_by_text("It is as it was before.")).to_be_visible()
    carry(web, guest)
    numbers = elsewhere.ok("GET", f"/api/people/{ada}")["person"]["phoneNumbers"]
    assert [each["number"] for each in numbers] == ["+44 20 7946 0001"]
    expect(guest.get_by_text(re.compile("Bob took a change of Ada Lovelace back: Phone"))).to_be_visible()


def share_group(web: Web, group: str) -> None:
    """Share it from its page, and invite bob."""
    page = web.open(f"/groups/{group}")
    web.synced(page)
    page.keyboard.press("s")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Notes")).to_be_checked()
    check(page)
    dialog.get_by_label("Mail address").fill("bob@example.org")
    dialog.get_by_role("button", name="Share", exact=True).click()
    expect(page.get_by_text("Nobody else takes part yet")).to_be_visible()
    expect(page.get_by_text("bob@example.org", exact=True)).to_be_visible()
    check(page)


def open_invitation(web: Web) -> Page:
    """Follow the link of the mail, read who asks, and sign in as bob."""
    link = re.search(r"/app(/invitation\?token=\S+)", str(mail.outbox[-1].body))
    assert link
    web.chromium.complaints.expected.append("status of 401")
    guest = web.open(link[1], web.visitor())
    expect(guest.get_by_role("heading", name="Alice wants to keep “Family” together with you")).to_be_visible()
    check(guest)
    guest.get_by_role("link", name="Sign in").click()
    guest.get_by_label("E-mail").fill("bob@example.org")
    guest.get_by_label("Password", exact=True).fill(PASSWORD)
    guest.get_by_role("button", name="Sign in").click()
    return guest


def review_all_but_cleo(guest: Page) -> None:
    """Cleo is not bob's; all others are taken with one key."""
    expect(guest.get_by_role("button", name="Take all 3 as they stand")).to_be_visible()
    check(guest)
    same = guest.get_by_role("group", name="Who Ada Lovelace is").get_by_role("button", name="the same person")
    expect(same).to_have_attribute("aria-pressed", "true")
    guest.get_by_role("group", name="Who Cleo Lovelace is").get_by_role("button", name="Not mine").click()
    guest.get_by_role("heading", name="Who comes").click()
    guest.keyboard.press("Enter")
    expect(guest.get_by_role("heading", name="Nothing waits")).to_be_visible()


@pytest.fixture
def family(alice: User, bob: User, elsewhere: Client) -> dict[str, str]:
    """Alice and bob share fifteen people, who are here with their ids at alice's."""
    share_people(alice, bob)
    group = str(ShareMembership.unscoped.get(owner=alice).group_id)
    names = ["Ada", "Ben", "Cleo", *(f"Friend {number}" for number in range(12))]
    ids = {name: add_person(elsewhere, name, groupIds=[group], jobTitle="Nurse") for name in names}
    carry_all()
    assert people_of(bob) == set(names)
    return ids


def test_what_others_ask_is_answered_also_without_a_network(
    web: Web, alice: User, bob: User, elsewhere: Client, family: dict[str, str]
) -> None:
    for name in ("Ada", "Ben"):
        elsewhere.ok("DELETE", f"/api/people/{family[name]}")
    carry_all()
    context = web.context(bob)
    page = web.open("/", context)
    web.synced(page)
    page.get_by_role("region", name="To decide").get_by_role("link", name="2 people wait in “Family”").click()
    asked = page.get_by_role("region", name="Asked by others")
    expect(asked.get_by_text("Alice took Ada out")).to_be_visible()
    check(page)
    context.set_offline(True)
    web.chromium.complaints.expected += ["ERR_INTERNET_DISCONNECTED"]
    asked.get_by_role("button", name="Keep here: Alice took Ada out").click()
    page.keyboard.press("j")
    page.keyboard.press("2")  # of the one that is left: remove
    expect(page.get_by_role("heading", name="Nothing waits")).to_be_visible()
    expect(page.get_by_text("2 answers are kept here")).to_be_visible()
    page.get_by_role("button", name="Back").click()
    context.set_offline(False)
    web.eventually(page, lambda: people_of(bob) == {*family} - {"Ben"})
    carry(web, page)
    assert people_of(alice) == {*family} - {"Ada", "Ben"}

    # The same field at both: the share keeps the first, bob is asked.
    cleo = Person.objects.owned_by(bob).get(name="Cleo")
    elsewhere.ok("PUT", f"/api/people/{family['Cleo']}", {"jobTitle": "Ward manager"})
    carry_account(alice.pk)
    client_of(bob).ok("PUT", f"/api/people/{cleo.pk}", {"jobTitle": "Head nurse"})
    carry_all()
    page.get_by_role("link", name="1 person of “Family” was changed in two places").click()
    differing = page.get_by_role("region", name="Changed in two places")
    expect(differing.get_by_role("button", name="Head nurse")).to_have_attribute("aria-pressed", "true")
    check(page)
    differing.get_by_role("listitem").focus()
    page.keyboard.press("2")
    expect(differing.get_by_role("button", name="Ward manager")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("4")  # keep what is chosen
    expect(page.get_by_text("Cleo is decided.")).to_be_visible()
    page.get_by_role("button", name="Back").click()  # leaving the page sends it
    web.eventually(page, lambda: not ShareConflict.unscoped.exists())
    carry(web, page)
    assert set(Person.unscoped.filter(name="Cleo").values_list("job_title", flat=True)) == {"Ward manager"}


def test_many_changes_at_once_are_refused_and_leaving_keeps_all(
    web: Web, alice: User, bob: User, elsewhere: Client, family: dict[str, str]
) -> None:
    gone = [family[f"Friend {number}"] for number in range(10)]
    elsewhere.ok("POST", "/api/people/bulk", {"action": "delete", "personIds": gone})
    carry_all()
    page = web.open("/", web.context(bob))
    page.get_by_role("link", name="1 person waits in “Family”").click()
    expect(page.get_by_text("Alice changed or removed 10 people at once")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Refuse it")).click()
    expect(page.get_by_text("It is refused, and nothing changes here.")).to_be_visible()
    page.get_by_role("button", name="Back").click()
    web.eventually(page, lambda: not Hold.unscoped.filter(state=HoldState.OPEN).exists())
    carry(web, page)
    assert people_of(alice) == people_of(bob) == set(family)
    # Left in two taps, after it is said what stays.
    page.goto(f"/app/shares/{Share.unscoped.get().pk}")
    expect(page.get_by_text(re.compile("Alice added .* and 12 more"))).to_be_visible()
    page.get_by_role("button", name="Leave").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("All people stay with you")).to_be_visible()
    check(page)
    dialog.get_by_role("button", name="Leave").click()
    expect(page.get_by_text("You have left “Family”.")).to_be_visible()
    carry(web, page)
    assert people_of(bob) == set(family)
    assert [row.owner for row in ShareMembership.unscoped.filter(deleted_at=None)] == [alice]


def test_invitation_that_is_over_or_not_wanted_says_so(web: Web, alice: User, bob: User, elsewhere: Client) -> None:
    group = elsewhere.ok("POST", "/api/groups", {"name": "School"}, status=201)["group"]["id"]
    share = elsewhere.ok("POST", "/api/shares", {"name": "School", "groupId": group}, status=201)["share"]["id"]
    elsewhere.ok("POST", f"/api/shares/{share}/invitations", {"email": "bob@example.org"}, status=201)
    page = web.open("/", web.context(bob))
    page.get_by_role("link", name="1 invitation to keep people together").click()
    expect(page.get_by_text("Nobody is in it yet.")).to_be_visible()
    page.get_by_role("button", name="No, thanks").click()
    expect(page.get_by_role("heading", name="No invitation waits")).to_be_visible()
    assert Invitation.unscoped.get().state == "declined"
    web.chromium.complaints.expected.append("status of 401")
    guest = web.open("/invitation?token=of-nobody", web.visitor())
    expect(guest.get_by_role("heading", name="This invitation is over")).to_be_visible()
    check(guest)
