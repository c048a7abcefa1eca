"""The TypeScript kit's store in Chromium: after a restart of the browser, and with two copies on one store."""

from pathlib import Path

import pytest

from accounts.models import User
from tests.browser import Chromium
from tests.clients.kit_pages import KitPages

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

WRITES = """async () => {
  const row = (id) => ({ type: "group", id, etag: "", record: { name: id, lines: [1, null] }, reading: 0 });
  await store.write([
    { table: "records", key: "group/b", row: row("b") },
    { table: "records", key: "group/a", row: row("a") },
    { table: "records", key: "group/c", row: row("c") },
    { table: "facts", key: "cursor", row: "first" },
  ]);
  await store.write([{ table: "records", key: "group/c" }, { table: "facts", key: "reading", row: 7 }]);
  await store.write([]);
  const broken = { table: "records", key: "group/z", row: { record: { count: 1n } } };
  return store.write([{ table: "facts", key: "cursor", row: "second" }, broken]).catch((error) => error.name);
}"""
READS = """async () => [
  (await store.all("records")).map((row) => row.record.name),
  await store.all("edits"),
  await store.get("facts", "cursor"),
  await store.get("facts", "reading"),
  (await store.get("records", "group/z")) === undefined,
  (await store.many("records", ["group/a", "group/z"])).map((row) => row?.record.lines ?? null),
]"""


def test_store_survives_a_restart_of_the_browser(
    kit: KitPages, chromium: Chromium, alice: User, tmp_path: Path
) -> None:
    """Rows are in the order of their keys, and a failed write leaves nothing."""
    with chromium.profile(tmp_path) as context:
        kit.prepare(context, kit.server.base, alice)
        assert kit.page(context).evaluate(WRITES) == "TypeError"
    with chromium.profile(tmp_path) as context:
        kit.prepare(context, kit.server.base, alice)
        assert kit.page(context).evaluate(READS) == [["a", "b"], [], "first", 7, True, [[1, None], None]]


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
