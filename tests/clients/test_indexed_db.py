"""The TypeScript kit's store in Chromium: after a restart of the browser, and with two copies on one store."""

from pathlib import Path

import pytest

from accounts.models import User
from people.models import Person
from tests.browser import Chromium
from tests.client import client_of
from tests.clients.kit_pages import KitPages
from tests.rounds import rounds
from tests.routes.many_people import add_many_people

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]


def test_store_survives_a_restart_of_the_browser(
    kit: KitPages, chromium: Chromium, alice: User, tmp_path: Path
) -> None:
    """Rows are in the order of their keys, and a failed write leaves nothing."""
    with chromium.profile(tmp_path) as context:
        kit.prepare(context, kit.server.base, alice)
        assert kit.page(context).evaluate("tests.writeRows()") == "TypeError"
    with chromium.profile(tmp_path) as context:
        kit.prepare(context, kit.server.base, alice)
        assert kit.page(context).evaluate("tests.readRows()") == [["a", "b"], [], "first", 7, True, [[1, None], True]]


def test_edits_of_two_tabs_are_all_kept(kit: KitPages) -> None:
    """Each write of an edit first reads the next free number, so the tabs compete."""
    context = kit.context()
    pages = [kit.page(context), kit.page(context)]
    for page in pages:
        page.evaluate(
            "() => { window.made = Promise.all([...'0123456789'].map((name) => copy.create('group', { name }))) }"
        )
    for page in pages:
        page.evaluate("made")
    assert pages[1].evaluate(
        "Promise.all([store.all('edits'), copy.all('group')]).then((all) => all.map((a) => a.length))"
    ) == [20, 20]


def test_first_reading_is_stored_in_blocks_and_what_follows_in_rows(kit: KitPages, alice: User) -> None:
    """Both are read as one, also by another tab, and after what a block has was changed or removed."""
    add_many_people(alice, 250)
    people = sorted(str(key) for key in Person.objects.owned_by(alice).values_list("pk", flat=True))
    context = kit.context()
    page = kit.page(context)
    page.evaluate("copy.sync()")
    records, blocks = page.evaluate("tests.countRows()")
    assert records == 0
    assert blocks < 30  # of 250 people, 250 dates, 1,000 relationships, and some types
    one, gone, two = people[0], people[100], people[200]  # not related to each other
    client_of(alice).ok("PUT", f"/api/people/{one}", {"nickname": "Elsewhere"})
    client_of(alice).ok("DELETE", f"/api/people/{gone}")
    page.evaluate("id => copy.update('person', id, { nickname: 'Here' })", two)
    page.evaluate("copy.sync()")
    assert page.evaluate("tests.countRows()")[1] == blocks
    other = kit.page(context)
    read = """async ([one, gone, two]) => [
      (await copy.all("person")).map(({ id, nickname }) => [id, nickname]),
      (await copy.get("person", one)).nickname, await copy.get("person", gone) ?? null,
      (await copy.get("person", two)).nickname,
      (await copy.of("relationship", one)).length, (await copy.of("relationship", gone)).length,
    ]"""
    named = {one: "Elsewhere", two: "Here"}
    expected = [[key, named.get(key)] for key in people if key != gone]
    for each in (page, other):
        assert each.evaluate(read, [one, gone, two]) == [expected, "Elsewhere", None, "Here", 4, 0]


def test_first_reading_that_is_interrupted_again_and_again_is_complete(kit: KitPages, alice: User) -> None:
    """Each time after one more page was stored; what is left is stored in blocks as well."""
    add_many_people(alice, 400)
    context = kit.context()
    pages = 0
    while True:
        page = kit.page(context)
        is_complete = page.evaluate("tests.readOnePage()")
        page.close()
        if is_complete:
            break
        pages += 1
    assert pages >= 2
    page = kit.page(context)
    page.evaluate("copy.sync()")
    assert page.evaluate("tests.countRows()")[0] == 0
    outcome = page.evaluate("tests.compareWithCopyInMemory()")
    assert outcome == [True, 1600]


def test_store_answers_as_one_in_memory(kit: KitPages) -> None:
    """After random writes, of which the first are those of a first reading."""
    page = kit.page(kit.context())
    for seed in range(1, rounds(5)):
        assert page.evaluate("tests.compareWithStoreInMemory", seed * 7919) == "equal", f"seed {seed}"


def test_record_of_an_account_that_was_read_by_an_older_version_is_kept(kit: KitPages) -> None:
    """Version 3 had no blocks; its rows stay as they are."""
    page = kit.page(kit.context(), "other")
    found = page.evaluate("tests.readBesideRecordOfVersion3()")
    assert found == [["Old", "New"], "Old"]
