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


ROWS = """async () => {
  const request = indexedDB.open("copy");
  await new Promise((done) => { request.onsuccess = done; });
  const transaction = request.result.transaction(["records", "blocks"]);
  const count = (name) => new Promise((done) => {
    const counted = transaction.objectStore(name).count();
    counted.onsuccess = () => done(counted.result);
  });
  const counts = [await count("records"), await count("blocks")];
  request.result.close();
  return counts;
}"""


def test_first_reading_is_stored_in_blocks_and_what_follows_in_rows(kit: KitPages, alice: User) -> None:
    """Both are read as one, also by another tab, and after what a block has was changed or removed."""
    add_many_people(alice, 250)
    people = sorted(str(key) for key in Person.objects.owned_by(alice).values_list("pk", flat=True))
    context = kit.context()
    page = kit.page(context)
    page.evaluate("copy.sync()")
    records, blocks = page.evaluate(ROWS)
    assert records == 0
    assert blocks < 30  # of 250 people, 250 dates, 1,000 relationships, and some types
    one, gone, two = people[0], people[100], people[200]  # not related to each other
    client_of(alice).ok("PUT", f"/api/people/{one}", {"nickname": "Elsewhere"})
    client_of(alice).ok("DELETE", f"/api/people/{gone}")
    page.evaluate("id => copy.update('person', id, { nickname: 'Here' })", two)
    page.evaluate("copy.sync()")
    assert page.evaluate(ROWS)[1] == blocks
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
        is_complete = page.evaluate("""async () => {
          const stop = new AbortController();
          copy.subscribe(() => stop.abort());
          return copy.pull({ signal: stop.signal }).then(() => true, () => false);
        }""")
        page.close()
        if is_complete:
            break
        pages += 1
    assert pages >= 2
    page = kit.page(context)
    page.evaluate("copy.sync()")
    assert page.evaluate(ROWS)[0] == 0
    outcome = page.evaluate("""async () => {
      const other = new kit.Copy(new kit.MemoryStore(), connection);
      await other.sync();
      const types = ["settings", "group", "person", "importantDate", "relationship", "relationshipType"];
      const read = async (each) => JSON.stringify(await Promise.all(types.map((type) => each.all(type))));
      return [(await read(copy)) === (await read(other)), (await copy.all("relationship")).length];
    }""")
    assert outcome == [True, 1600]


AS_IN_MEMORY = """async (seed) => {
  const random = (below) => (seed = (seed * 48271) % 2147483647) % below;
  const one = await kit.IndexedDbStore.open(`random ${seed}`);
  const other = new kit.MemoryStore();
  const ids = [...Array(300).keys()];
  const row = (type, id) => ({ type, id: String(id), etag: String(random(1000)), reading: 0, record: { name: `${id}` },
    refs: type === "person" ? [] : [`relationship ${random(9)}`] });
  let isFirstReading = true;
  for (let step = 0; step < 30; step++) {
    isFirstReading &&= random(8) > 0;
    const changes = [{ table: "facts", key: "cursor", row: step }];
    for (let each = random(isFirstReading ? 240 : 12); each > 0; each--) {
      const [type, id] = [["person", "relationship"][random(2)], ids[random(ids.length)]];
      const isRemoved = random(isFirstReading ? 2000 : 4) === 0;
      changes.push({ table: "records", key: `${type}/${id}`, row: isRemoved ? undefined : row(type, id) });
    }
    for (const store of [one, other]) await store.write(changes, { isFirstReading });
    const reads = (store) => Promise.all([
      store.all("records"), store.all("records", { prefix: "person/" }),
      store.all("records", { prefix: "relationship/1" }),
      store.all("records", { ref: `relationship ${step % 9}` }), store.get("records", `person/${step}`),
      store.many("records", ids.map((id) => `relationship/${id}`)),
    ]);
    const [found, expected] = (await Promise.all([one, other].map(reads))).map((each) => JSON.stringify(each));
    if (found !== expected) return `step ${step}`;
  }
  return "equal";
}"""


def test_store_answers_as_one_in_memory(kit: KitPages) -> None:
    """After random writes, of which the first are those of a first reading."""
    page = kit.page(kit.context())
    for seed in range(1, rounds(10)):
        assert page.evaluate(AS_IN_MEMORY, seed * 7919) == "equal", f"seed {seed}"


def test_record_of_an_account_that_was_read_by_an_older_version_is_kept(kit: KitPages) -> None:
    """Version 3 had no blocks; its rows stay as they are."""
    page = kit.page(kit.context(), "other")
    found = page.evaluate("""async () => {
      const request = indexedDB.open("old", 3);
      request.onupgradeneeded = () => {
        for (const table of ["records", "edits", "conflicts", "facts"]) request.result.createObjectStore(table);
        request.transaction.objectStore("records").createIndex("refs", "refs", { multiEntry: true });
        const row = { type: "group", id: "a", etag: "", reading: 0, refs: [], record: '{"name":"Old"}' };
        request.transaction.objectStore("records").put(row, "group/a");
      };
      await new Promise((done) => { request.onsuccess = done; });
      request.result.close();
      const store = await kit.IndexedDbStore.open("old");
      const row = (id) => ({ type: "group", id, etag: "", reading: 0, refs: [], record: { name: "New" } });
      await store.write([{ table: "records", key: "group/b", row: row("b") }], { isFirstReading: true });
      const old = await store.get("records", "group/a");
      return [(await store.all("records")).map(({ record }) => record.name), old.record.name];
    }""")
    assert found == [["Old", "New"], "Old"]
