"""What a browser keeps of accounts, by the TypeScript kit: a store for each, unsent edits, and whose session it is."""

import pytest
from playwright.sync_api import Page

from accounts.models import User
from accounts.services.deletion import delete_account
from accounts.services.sessions import end_sessions
from people.models import Group
from tests.builders import make_person
from tests.clients.kit_pages import KitPages

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

# Opens the store of alice by `copies`, with a record, and an edit and a conflict that were not sent.
FILL = """async (id) => {
  window.copies = new kit.Copies("copies of ");
  const own = await copies.open(id);
  window.mine = new kit.Copy(own, connection);
  await mine.sync();
  await mine.create("group", { name: "Not sent" });
  await own.write([{ table: "conflicts", key: "c", row: { key: "c", type: "person", id: "p", action: "update",
    field: "notes", base: null, mine: "1", theirs: "2" } }]);
  own.close();
}"""
COUNTS = """async (id) => {
  const own = await kit.IndexedDbStore.open("copies of " + id);
  const counts = {};
  for (const table of ["records", "edits", "conflicts"]) counts[table] = (await own.all(table)).length;
  counts.cursor = await own.get("facts", "cursor of people") ?? null;
  own.close();
  return counts;
}"""


@pytest.fixture
def page(kit: KitPages) -> Page:
    return kit.page(kit.context())


@pytest.fixture(autouse=True)
def expected(kit: KitPages) -> None:
    kit.chromium.complaints.expected.append("status of 401")


def test_sync_with_the_session_of_another_account_reads_and_sends_nothing(
    kit: KitPages, page: Page, alice: User, mallory: User
) -> None:
    make_person(alice, name="Ada")
    make_person(mallory, name="Bens-friend")
    page.evaluate("copy.sync()")
    page.evaluate("copy.create('group', { name: 'Of Alice' })")
    kit.prepare(page.context, kit.server.base, mallory)
    told = page.evaluate(
        "copy.sync().catch((error) => [error instanceof kit.OtherAccountError, error.accountId, error.message])"
    )
    assert told == [True, str(mallory.pk), "This copy is of another account: take a store of its own for each."]
    assert page.evaluate("copy.push().catch((error) => error.accountId)") == str(mallory.pk)
    assert page.evaluate("copy.all('person').then((all) => all.map(({ name }) => name))") == ["Ada"]
    assert not Group.unscoped.exists()
    kit.prepare(page.context, kit.server.base, alice)
    page.evaluate("copy.sync()")
    assert Group.unscoped.get().owner_id == alice.pk


def test_session_that_ends_says_why(kit: KitPages, page: Page, alice: User) -> None:
    page.evaluate("""() => { window.reasons = [];
      window.watched = new kit.Connection("", new kit.Session((reason) => reasons.push(reason))); }""")
    end_sessions(user=alice)
    page.evaluate("watched.request('GET', '/api/people')")
    page.evaluate("watched.request('POST', '/api/groups', { name: 'x' })")
    kit.prepare(page.context, kit.server.base, alice)
    page.evaluate("watched.request('GET', '/api/people')")
    delete_account(user=alice)
    page.evaluate("watched.request('GET', '/api/people')")
    page.context.clear_cookies()
    page.evaluate("watched.request('GET', '/api/people')")
    wrong = {"email": "nobody@example.org", "password": "Wrong-1843"}
    page.evaluate("(body) => watched.request('POST', '/api/auth/login', body)", wrong)
    assert page.evaluate("reasons") == ["session_revoked", "session_revoked", "account_deleted", "unauthenticated"]


def test_unsent_edits_are_told_by_account_and_saved_as_a_file(page: Page, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(name="Alice")
    page.evaluate(FILL, str(alice.pk))
    told = page.evaluate("""() => copies.unsent().then((all) => all.map((each) =>
      [each.accountId, each.name, each.edits.length, each.conflicts.length, each.isStripped]))""")
    assert told == [[str(alice.pk), "Alice", 1, 1, False]]
    saved = page.evaluate("copies.unsent().then(([each]) => kit.unsentFile(each).text()).then(JSON.parse)")
    assert (saved["format"], saved["account"]["name"]) == ("contact-network unsent", "Alice")
    assert saved["edits"][0]["body"]["name"] == "Not sent"
    assert saved["conflicts"][0]["mine"] == "1"


def test_stripped_store_has_the_unsent_edits_alone_and_goes_on_after_a_sign_in(page: Page, alice: User) -> None:
    make_person(alice, name="Ada")
    page.evaluate(FILL, str(alice.pk))
    before = page.evaluate(COUNTS, str(alice.pk))
    assert before["records"] > 0
    assert before["cursor"]
    for _ in range(2):  # another tab does it, too
        page.evaluate("(id) => copies.strip(id)", str(alice.pk))
        counts = page.evaluate(COUNTS, str(alice.pk))
        assert counts == {"records": 0, "edits": 1, "conflicts": 1, "cursor": None}
        assert page.evaluate("copies.unsent().then(([each]) => [each.isStripped, each.name])") == [True, alice.name]
    page.evaluate(
        """async (id) => {
          const again = new kit.Copy(await copies.open(id), connection);
          await again.create("group", { name: "Later" });
          await again.sync();
          window.people = await again.all("person");
        }""",
        str(alice.pk),
    )
    assert sorted(Group.unscoped.values_list("name", flat=True)) == ["Later", "Not sent"]
    assert [person["name"] for person in page.evaluate("people")] == ["Ada"]
    assert page.evaluate("copies.unsent().then(([each]) => each.isStripped)") is False


def test_stripping_a_store_without_unsent_edits_and_removing_all_leave_nothing(page: Page, alice: User) -> None:
    page.evaluate(
        """async (id) => {
          window.copies = new kit.Copies("copies of ");
          for (const each of [id, "of-another"]) {
            const own = await copies.open(each);
            if (each === id) await new kit.Copy(own, connection).sync();
            own.close();
          }
        }""",
        str(alice.pk),
    )
    assert sorted(page.evaluate("copies.accountIds()")) == sorted([str(alice.pk), "of-another"])
    page.evaluate("(id) => copies.strip(id)", str(alice.pk))
    assert page.evaluate("copies.accountIds()") == ["of-another"]
    page.evaluate("copies.removeAll()")
    assert page.evaluate("copies.accountIds()") == []
    assert page.evaluate("kit.IndexedDbStore.names('copies of ')") == []
    assert page.evaluate("Object.keys(localStorage)") == []
