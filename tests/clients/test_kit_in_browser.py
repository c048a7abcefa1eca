"""The TypeScript kit in Chromium: what a browser adds to it, or takes away from it."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from accounts.models import User
from people.models import Group, ImportantDate, Interaction, Person
from people.services.photos import set_person_photo
from relationships.models import Relationship
from tests.browser import Chromium
from tests.builders import make_person, make_token, make_user
from tests.client import client_of
from tests.clients.kit_pages import KitPages
from tests.pictures import picture

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]


@pytest.fixture
def page(kit: KitPages) -> Page:
    return kit.page(kit.context())


def wait_for_people(page: Page, count: int) -> None:
    """Wait until the copy has so many people. `wait_for_function` would take the promise of a function for true."""
    deadline = time.monotonic() + 30
    while (found := page.evaluate("copy.all('person').then(({ length }) => length)")) != count:
        assert time.monotonic() < deadline, f"still {found} people"
        page.wait_for_timeout(50)


# Deletions after own edits.

HANGING = {
    "interaction": "copy.create('interaction', { personIds: [ada], kind: 'CALL', at: new Date().toISOString() })",
    "importantDate": "copy.create('importantDate', { personId: ada, type: 'BIRTHDAY', date: '1815-12-10' })",
    "relationship": "copy.create('relationship', { personId: ada, relatedPersonId: ben })",
    "group": "copy.update('person', ada, { groupIds: [group] })",
    "value": "copy.update('person', ada, { customFieldValues: [{ templateId: template, value: 'tea' }] })",
}


@pytest.mark.parametrize("sent", [False, True], ids=["unsent", "just sent"])
@pytest.mark.parametrize("edit", list(HANGING))
def test_own_edit_of_what_hangs_on_a_person_is_no_conflict_with_its_deletion(page: Page, edit: str, sent: bool) -> None:
    """`just sent`: the edit is executed, but its effects were not read before the deletion."""
    outcome = page.evaluate(f"""async () => {{
      const ada = await copy.create("person", {{ name: "Ada" }});
      const ben = await copy.create("person", {{ name: "Ben" }});
      const group = await copy.create("group", {{ name: "Engines" }});
      const template = await copy.create("customFieldTemplate", {{ name: "Drinks", type: "TEXT" }});
      await copy.sync();
      await {HANGING[edit]};
      if ({str(sent).lower()}) await copy.push();
      await copy.delete("person", ada);
      await copy.delete("group", group);
      await copy.delete("customFieldTemplate", template);
      await copy.sync();
      return [await copy.conflicts(), await copy.refused(), (await copy.all("person")).length];
    }}""")
    assert outcome == [[], [], 1]
    assert Person.unscoped.filter(deleted_at=None).count() == 1
    assert not Group.unscoped.filter(deleted_at=None).exists()


@pytest.mark.parametrize("kind", ["date", "notes"])
def test_edit_of_another_device_is_a_conflict_with_a_deletion(page: Page, alice: User, kind: str) -> None:
    """Also if the device itself has added something as well."""
    ada = page.evaluate("copy.create('person', { name: 'Ada' }).then(async (ada) => (await copy.sync(), ada))")
    if kind == "date":
        client_of(alice).ok("POST", f"/api/people/{ada}/important-dates", {"title": "Met", "date": "1833-06-05"})
    else:
        client_of(alice).ok("PUT", f"/api/people/{ada}", {"notes": "elsewhere"})
    conflicts = page.evaluate(
        """async (ada) => {
          await copy.create("interaction", { personIds: [ada], kind: "CALL", at: new Date().toISOString() });
          await copy.delete("person", ada);
          await copy.sync();
          return (await copy.conflicts()).map(({ action, field }) => [action, field]);
        }""",
        ada,
    )
    assert conflicts == [["delete", None]]
    assert Person.unscoped.get().deleted_at is None


def test_options_of_a_deletion_are_sent(page: Page) -> None:
    page.evaluate("""async () => {
      const ada = await copy.create("person", { name: "Ada" });
      const ben = await copy.create("person", { name: "Ben" });
      await copy.sync();
      const [type] = await copy.all("relationshipType");
      await copy.update("person", ada, { relationshipToUserId: type.id });
      await copy.create("relationship", { personId: ada, relatedPersonId: ben });
      await copy.sync();
      await copy.delete("person", ada, { deleteOrphans: true, deleteFromCardDav: false });
      await copy.sync();
    }""")
    assert not Person.unscoped.filter(deleted_at=None).exists()


# Insecure contexts.


def test_edits_work_on_plain_http_in_a_local_network(
    kit: KitPages, chromium: Chromium, alice: User, tmp_path: Path, settings: Any
) -> None:
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "pi.lan"]
    base = f"http://pi.lan:{kit.server.port}"
    with chromium.profile(tmp_path, "--host-resolver-rules=MAP pi.lan 127.0.0.1") as context:
        kit.prepare(context, base, alice)
        page = kit.page(context, base=base)
        told = page.evaluate("""async () => {
          const ada = await copy.create("person", { name: "Ada" });
          await copy.sync();
          await copy.update("person", ada, { surname: "Lovelace" });
          const group = await connection.ask("POST", "/api/groups", { name: "Engines" });
          const ben = await copy.create("person", { name: "Ben", groupIds: [group.group.id] });
          await copy.sync();
          await copy.delete("person", ben);
          await copy.sync();
          return [isSecureContext, await kit.beginSignIn("", "http://127.0.0.1/").catch((error) => error.message)];
        }""")
    assert told == [
        False,
        "Signing in by the provider needs a page that was loaded over https: crypto.subtle is missing here.",
    ]
    assert [(p.name, p.surname) for p in Person.unscoped.filter(deleted_at=None)] == [("Ada", "Lovelace")]


# Retries.


def test_long_retry_after_is_given_back(kit: KitPages, page: Page) -> None:
    headers = {"Retry-After": "320", "Content-Type": "application/json"}
    body = '{"error": "Too many attempts.", "retryAfter": 320}'
    page.context.route("**/api/auth/token", lambda route: route.fulfill(status=429, headers=headers, body=body))
    kit.chromium.complaints.expected.append("status of 429")
    told = page.evaluate(
        """kit.signIn("", { email: "ada@example.org", password: "x", name: "phone" })
           .catch((error) => [error.status, error.retryAfter])""".replace('signIn(""', "signIn(location.origin")
    )
    assert told == [429, 320]
    assert kit.requests.count("POST /api/auth/token") == 1


@pytest.mark.parametrize("way", ["request", "api", "between attempts"])
def test_aborted_request_ends_at_once(kit: KitPages, page: Page, way: str) -> None:
    kit.chromium.complaints.expected.append("Failed to load resource")
    held: list[Route] = []
    page.context.route("**/api/find*", lambda route: held.append(route))  # noqa: PLW0108 - playwright needs a function
    page.evaluate(
        """(way) => {
          window.controller = new AbortController();
          const { signal } = controller;
          const sent = way === "api" ? connection.api.GET("/api/find", { params: { query: { q: "a" } }, signal })
            : connection.request("GET", "/api/find?q=a", undefined, { signal });
          window.outcome = sent.catch((error) => error.name);
        }""",
        way,
    )
    page.wait_for_function("() => true")
    while not held:
        page.wait_for_timeout(20)
    if way == "between attempts":
        held[0].abort()
    page.evaluate("controller.abort()")
    assert page.evaluate("outcome") == "AbortError"
    assert len(held) == 1


def test_offline_browser_tries_once(kit: KitPages, page: Page) -> None:
    page.evaluate("copy.sync()")
    kit.requests.clear()
    page.context.set_offline(True)
    kit.chromium.complaints.expected.append("ERR_INTERNET_DISCONNECTED")
    assert page.evaluate("copy.sync().catch((error) => error.name)") == "TypeError"
    assert len(kit.requests) <= 2  # one of each of the two feeds


@pytest.mark.parametrize("way", ["ask", "request", "api", "pages"])
def test_connection_takes_the_fetch_of_the_browser(page: Page, alice: User, way: str) -> None:
    make_person(alice, name="Ada")
    page.evaluate("(token) => { window.plain = new kit.Connection(location.origin, token, fetch) }", make_token(alice))
    read = {
        "ask": "plain.ask('GET', '/api/people').then((body) => body.people[0].name)",
        "request": "plain.request('GET', '/api/people').then((r) => r.json()).then((body) => body.people[0].name)",
        "api": "plain.api.GET('/api/people').then(({ data }) => data.people[0].name)",
        "pages": "plain.pages('/api/people', 'people').next().then(({ value }) => value.name)",
    }
    assert page.evaluate(read[way]) == "Ada"


# The store.


def test_store_is_removed_while_other_tabs_have_it_open(kit: KitPages) -> None:
    context = kit.context()
    first, second = kit.page(context), kit.page(context)
    first.evaluate("copy.create('person', { name: 'Ada' })")
    first.evaluate("kit.IndexedDbStore.remove('copy')")
    second.wait_for_timeout(0)
    assert second.evaluate("timesClosed") == 1
    assert first.evaluate("kit.IndexedDbStore.open('copy').then((store) => store.all('edits'))") == []


def test_ranges_are_read_by_key_and_by_person(page: Page) -> None:
    """The store is asked for no more rows than the answer has."""
    told = page.evaluate("""async () => {
      const row = (type, id, record) => ({ table: "records", key: `${type}/${id}`,
        row: { type, id, etag: "", reading: 0, record: { id, ...record }, refs: kit.refsOf?.(type, record) ?? [] } });
      const people = Array.from({ length: 20 }, (_, n) => row("person", `p${n}`, { name: "N" }));
      await store.write([...people, row("relationship", "r", { personId: "p1" }), row("relationshipType", "t", {})]);
      const counts = [];
      for (const target of [IDBObjectStore, IDBIndex]) {
        const { getAll } = target.prototype;
        target.prototype.getAll = function (...given) {
          const request = getAll.apply(this, given);
          request.addEventListener("success", () => this.name !== "edits" && counts.push(request.result.length));
          return request;
        };
      }
      const found = [await copy.all("group"), await copy.all("relationship"), await copy.all("relationshipType")];
      return [counts, found.map((records) => records.length)];
    }""")
    assert told == [[0, 0, 1, 0, 1, 0], [0, 1, 1]]  # each time of the rows and of the blocks of the type


def test_blocks_of_a_type_are_read_alone(page: Page) -> None:
    told = page.evaluate("""async () => {
      const row = (type, n) => ({ table: "records", key: `${type}/${n}`,
        row: { type, id: `${n}`, etag: "", reading: 0, record: { id: `${n}` }, refs: [] } });
      const rows = [...Array(250).keys()].flatMap((n) => [row("person", n), row("group", n)]);
      await store.write(rows, { isFirstReading: true });
      let count = 0;
      const { getAll } = IDBIndex.prototype;
      IDBIndex.prototype.getAll = function (...given) {
        const request = getAll.apply(this, given);
        request.addEventListener("success", () => (count += request.result.length));
        return request;
      };
      return [(await copy.all("group")).length, count];
    }""")
    assert told == [250, 3]


def test_what_hangs_on_a_person_is_read_by_an_index(page: Page) -> None:
    told = page.evaluate("""async () => {
      const [ada, ben] = [await copy.create("person", { name: "Ada" }), await copy.create("person", { name: "Ben" })];
      await copy.create("importantDate", { personId: ada, type: "BIRTHDAY", date: "1815-12-10" });
      await copy.create("importantDate", { personId: ben, type: "BIRTHDAY", date: "1817-12-10" });
      await copy.create("relationship", { personId: ada, relatedPersonId: ben });
      await copy.create("interaction", { personIds: [ada, ben], kind: "CALL", at: new Date().toISOString() });
      const types = ["importantDate", "relationship", "interaction"];
      const read = (id) => Promise.all(types.map(async (type) => (await copy.of(type, id)).length));
      const unsent = [await read(ada), await read(ben)];
      await copy.sync();
      const sent = [await read(ada), await read(ben)];
      await copy.delete("person", ada);
      return [unsent, sent, await read(ada), await read(ben)];
    }""")
    assert told == [[[1, 1, 1], [1, 0, 1]], [[1, 1, 1], [1, 1, 1]], [0, 0, 1], [1, 0, 1]]


def test_store_of_the_former_version_is_upgraded(kit: KitPages) -> None:
    context = kit.context()
    page = kit.page(context, "other")
    page.evaluate("""async () => {
      const request = indexedDB.open("old", 1);
      const tables = ["records", "edits", "conflicts", "facts"];
      request.onupgradeneeded = () => tables.forEach((name) => request.result.createObjectStore(name));
      await new Promise((done) => (request.onsuccess = done));
      const records = request.result.transaction("records", "readwrite").objectStore("records");
      const record = { id: "d", personId: "p" };
      records.put({ type: "importantDate", id: "d", etag: "", reading: 0, record }, "importantDate/d");
      await new Promise((done) => (records.transaction.oncomplete = done));
      request.result.close();
    }""")
    page = kit.page(context, "old")
    assert page.evaluate("copy.of('importantDate', 'p').then((dates) => dates.map(({ id }) => id))") == ["d"]


def test_live_table_is_kept_current_record_by_record(kit: KitPages) -> None:
    context = kit.context()
    first, second = kit.page(context), kit.page(context)
    second.evaluate("""async () => {
      window.seen = [];
      window.table = new kit.LiveTable(copy, "person", ({ name }) => name, (ids) => seen.push(ids.size));
      await table.open();
    }""")
    ada = first.evaluate("copy.create('person', { name: 'Ada' })")
    second.wait_for_function("() => [...table.rows.values()].join() === 'Ada'")
    first.evaluate("(ada) => copy.update('person', ada, { name: 'Ada L.' })", ada)
    second.wait_for_function("() => [...table.rows.values()].join() === 'Ada L.'")
    first.evaluate("copy.sync()")
    first.evaluate("(ada) => copy.delete('person', ada)", ada)
    second.wait_for_function("() => table.rows.size === 0")
    assert second.evaluate("seen[0] === 0 && seen.slice(1).every((size) => size === 1)")


def test_live_table_reads_nothing_again_that_a_sync_has_just_stored(page: Page, alice: User) -> None:
    """And shows the unsent edits of what has come."""
    for number in range(3):
        make_person(alice, name=f"Person {number}")
    told = page.evaluate("""async () => {
      let read = 0;
      const many = store.many.bind(store);
      store.many = (table, keys) => ((read += keys.length), many(table, keys));
      const table = new kit.LiveTable(copy, "person", ({ name, notes }) => `${name}: ${notes}`);
      await table.open();
      await copy.sync();
      while (table.rows.size < 3) await new Promise((done) => setTimeout(done));
      return [read, [...table.rows.keys()][0]];
    }""")
    assert told[0] == 0
    ada = told[1]
    page.evaluate("(id) => copy.update('person', id, { notes: 'mine' })", ada)
    client_of(alice).ok("PUT", f"/api/people/{ada}", {"name": "Elsewhere"})
    shown = page.evaluate(
        """async (id) => {
          const table = new kit.LiveTable(copy, "person", ({ name, notes }) => `${name}: ${notes}`);
          await table.open();
          await copy.pull();
          while (!table.rows.get(id).startsWith("Elsewhere")) await new Promise((done) => setTimeout(done));
          return table.rows.get(id);
        }""",
        ada,
    )
    assert shown == "Elsewhere: mine"


def test_subscribers_in_all_tabs_are_told_who_changed_what(kit: KitPages) -> None:
    context = kit.context()
    pages = [kit.page(context), kit.page(context)]
    for each in pages:
        each.evaluate(
            """() => {
              window.told = [];
              copy.subscribe(({ keys, by }) => told.push([by, ...[...keys].map((key) => key.slice(0, 7))]));
            }"""
        )
    pages[0].evaluate("copy.create('person', { name: 'Ada' })")
    pages[1].wait_for_function("() => told.length > 0")
    assert pages[0].evaluate("told") == [["user", "person/"]]
    assert pages[1].evaluate("told") == [["other", "person/"]]
    pages[0].evaluate("copy.sync()")
    assert ["sync", "person/"] in pages[0].evaluate("told")


# Unsent edits.


def test_unsent_edits_are_listed_and_discarded(page: Page) -> None:
    told = page.evaluate("""async () => {
      const ada = await copy.create("person", { name: "Ada" });
      await copy.create("importantDate", { personId: ada, type: "BIRTHDAY", date: "1815-12-10" });
      const ben = await copy.create("person", { name: "Ben" });
      const pending = await copy.pending();
      const discarded = await copy.discard(pending[0]);
      await copy.sync();
      const names = (await copy.all("person")).map(({ name }) => name);
      return [pending.length, discarded, (await copy.pending()).length, names];
    }""")
    assert told == [3, True, 0, ["Ben"]]
    assert not ImportantDate.unscoped.exists()


@pytest.mark.parametrize("sent", [False, True])
def test_deletion_is_taken_back(page: Page, sent: bool) -> None:
    told = page.evaluate(f"""async () => {{
      const ada = await copy.create("person", {{ name: "Ada" }});
      const date = await copy.create("importantDate", {{ personId: ada, type: "BIRTHDAY", date: "1815-12-10" }});
      await copy.sync();
      const known = [await copy.get("person", ada), await copy.get("importantDate", date)];
      await copy.delete("importantDate", date);
      await copy.delete("person", ada);
      if ({str(sent).lower()}) await copy.sync();
      const deleted = (await copy.get("person", ada)) === undefined;
      await copy.restore("person", ada, known[0]);
      await copy.restore("importantDate", date, known[1]);
      const restored = (await copy.get("person", ada)).name;
      const unsent = (await copy.pending()).length;
      await copy.sync();
      return [deleted, restored, unsent, (await copy.of("importantDate", ada)).length, await copy.refused()];
    }}""")
    assert told == [True, "Ada", 2 if sent else 0, 1, []]
    assert Person.unscoped.get().deleted_at is None


def test_new_record_has_all_fields_before_it_was_sent(page: Page) -> None:
    told = page.evaluate("""async () => {
      const before = Date.now();
      const made = {
        person: await copy.create("person", { name: "Ada" }),
        group: await copy.create("group", { name: "Engines" }),
        customFieldTemplate: await copy.create("customFieldTemplate", { name: "Drinks", type: "TEXT" }),
        relationshipType: await copy.create("relationshipType", { name: "pen pal", label: "Pen pal", symmetric: true }),
      };
      const [personId, at] = [made.person, "2026-01-01T00:00:00Z"];
      made.importantDate = await copy.create("importantDate", { personId, title: "Met", date: "1833-06-05" });
      made.interaction = await copy.create("interaction", { personIds: [personId], kind: "CALL", at });
      const fields = async () => Object.fromEntries(await Promise.all(Object.entries(made).map(async ([type, id]) =>
        [type, Object.keys(await copy.get(type, id)).sort().join()])));
      const unsent = await fields();
      const { createdAt } = await copy.get("person", made.person);
      await copy.sync();
      return [unsent, await fields(), Math.abs(new Date(createdAt) - before) < 10000];
    }""")
    assert told[0] == told[1]
    assert told[2] is True


# The first reading.


def test_people_are_read_first_with_progress(kit: KitPages, page: Page, alice: User) -> None:
    for number in range(3):
        make_person(alice, name=f"Person {number}")
    kit.requests.clear()
    told = page.evaluate("""async () => {
      const told = [];
      await copy.sync({ onProgress: ({ done, total, isUsable }) => told.push([done > 0, total >= 3, isUsable]) });
      return told;
    }""")
    assert told == [[False, True, False], [True, True, True], [True, True, True]]
    feeds = [request for request in kit.requests if "/api/changes" in request]
    assert ["person" in feed for feed in feeds] == [True, False]


def test_next_page_is_fetched_while_one_is_written(kit: KitPages, page: Page, alice: User) -> None:
    """The second request is sent before the first page is stored."""
    api = client_of(alice)
    for start in range(0, 1100, 100):
        people = [{"method": "POST", "path": "/api/people", "body": {"name": f"P{start + n}"}} for n in range(100)]
        api.ok("POST", "/api/batch", {"operations": people})
    told = page.evaluate("""async () => {
      const events = [];
      const { fetch: send } = window;
      window.fetch = (request) => (request.url.includes("cursor=") && events.push("asked"), send(request));
      const slow = new kit.Copy(
        new Proxy(store, { get: (target, name) => {
          const value = target[name];
          if (name === "write") return async (changes) => {
            await new Promise((done) => setTimeout(done, 300));
            if (changes.length > 900) events.push("written");
            return target.write(changes);
          };
          return typeof value === "function" ? value.bind(target) : value;
        } }),
        new kit.Connection("", new kit.Session(), (request) => window.fetch(request)),
      );
      await slow.sync();
      return [events.slice(0, 2), (await slow.all("person")).length];
    }""")
    assert told == [["asked", "written"], 1100]


# Streams.


def test_one_tab_has_the_stream_and_all_follow(kit: KitPages, alice: User) -> None:
    context = kit.context()
    pages = [kit.page(context) for _ in range(7)]
    for each in pages:
        each.evaluate(
            """() => {
              window.states = [];
              window.syncer = new kit.Syncer(copy, connection, "copy", (state) => states.push(state.phase));
              syncer.start();
            }"""
        )
    for each in pages:
        each.wait_for_function("() => states.at(-1) === 'idle'")
    client_of(alice).ok("POST", "/api/people", {"name": "Ada"}, status=201)
    for each in pages:
        wait_for_people(each, 1)
    assert kit.requests.count("GET /api/changes/stream") == 1
    # The tab that has the stream is closed: another one takes it over.
    leader = kit.page_of_last("GET /api/changes/stream")
    leader.close()
    client_of(alice).ok("POST", "/api/people", {"name": "Ben"}, status=201)
    for each in pages:
        if each is not leader:
            wait_for_people(each, 2)
    assert kit.requests.count("GET /api/changes/stream") == 2


def test_change_between_the_sync_and_the_start_of_the_stream_is_shown(kit: KitPages, page: Page, alice: User) -> None:
    """The request of the stream is held until everything else has come to rest, and the change was made."""
    held: list[Route] = []
    page.route("**/api/changes/stream", lambda route: held.append(route))  # noqa: PLW0108 - playwright marks the function
    page.evaluate("""() => {
      window.syncer = new kit.Syncer(copy, connection, "copy", (state) => { window.phase = state.phase; });
      syncer.start();
    }""")
    page.wait_for_function("() => window.phase === 'idle'")
    while not held:
        page.wait_for_timeout(20)
    client_of(alice).ok("POST", "/api/people", {"name": "Ada"}, status=201)
    assert page.evaluate("copy.all('person')") == []
    held[0].continue_()
    wait_for_people(page, 1)


@pytest.mark.parametrize("when", ["during the sync", "while the next one waits"])
def test_event_makes_no_attempt_past_the_backoff(page: Page, when: str) -> None:
    """On a clock that stands still until `run_for`: an event of a stream that is open, and a sync that fails."""
    page.clock.install()
    page.evaluate("""() => {
      window.attempts = [];
      window.events = [];
      const copy = {
        subscribe: () => () => undefined,
        sync: () => new Promise((succeed, fail) => attempts.push({ succeed, fail })),
      };
      const connection = { revisions: async function* () {
        while (true) yield await new Promise((happen) => events.push(happen));
      } };
      // Time for all that follows without a timer.
      window.settle = async () => { for (let n = 0; n < 100; n++) await null; };
      window.happen = async () => { events.at(-1)(1); await settle(); };
      window.syncer = new kit.Syncer(copy, connection, "copy", () => undefined);
      syncer.start();
    }""")
    page.wait_for_function("() => events.length === 1")  # the stream is open, and the first sync runs
    told = page.evaluate(
        """async (isDuring) => {
          attempts[0].succeed();
          await settle();
          await happen();  // the first event of a connection
          const before = attempts.length;
          if (isDuring) await happen();
          attempts.at(-1).fail(new Error("503"));
          await settle();
          if (!isDuring) await happen();
          return [before, attempts.length];
        }""",
        when == "during the sync",
    )
    assert told == [2, 2]
    page.clock.run_for(10_000)
    assert page.evaluate("settle().then(() => attempts.length)") == 3
    # After a success, an event is followed by a sync again, one during a sync included.
    told = page.evaluate("""async () => {
      await happen();
      attempts.at(-1).succeed();
      await settle();
      return attempts.length;
    }""")
    assert told == 4
    page.evaluate("syncer.stop()")


def test_stream_pauses_while_the_page_is_hidden(kit: KitPages, page: Page, alice: User) -> None:
    page.evaluate("""() => {
      window.syncer = new kit.Syncer(copy, connection, "copy", (state) => { window.phase = state.phase; });
      syncer.start();
      window.hide = (hidden) => {
        Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      };
    }""")
    with page.expect_event("requestfailed", lambda request: "stream" in request.url):
        page.wait_for_function("() => window.phase === 'idle'")
        while not kit.requests.count("GET /api/changes/stream"):
            page.wait_for_timeout(20)
        page.evaluate("hide(true)")
    client_of(alice).ok("POST", "/api/people", {"name": "Ada"}, status=201)
    page.evaluate("hide(false)")
    wait_for_people(page, 1)
    assert kit.requests.count("GET /api/changes/stream") == 2


def test_stream_is_read_without_iteration_of_streams(kit: KitPages) -> None:
    """As in Safari."""
    context = kit.context()
    context.add_init_script(
        "delete ReadableStream.prototype[Symbol.asyncIterator]; delete ReadableStream.prototype.values;"
    )
    page = kit.page(context)
    revision = page.evaluate("""async () => {
      const controller = new AbortController();
      for await (const revision of connection.revisions({ signal: controller.signal })) {
        controller.abort();
        return revision;
      }
    }""")
    assert isinstance(revision, int)


def test_events_of_a_response_to_a_post_are_read(page: Page) -> None:
    told = page.evaluate(r"""async () => {
      const parts = ["event: progress\nda", 'ta: {"n": 1}\n\n: comment\n\nevent: complete\r\ndata: a\r'];
      parts.push("\ndata: b\n\nid: 7\ndata\n\ndata: cut");
      const stream = new ReadableStream({ start(controller) {
        for (const part of parts) controller.enqueue(new TextEncoder().encode(part));
        controller.close();
      } });
      const send = async ({ method }) => new Response(stream, { status: method === "POST" ? 200 : 500 });
      const plain = new kit.Connection(location.origin, "t", send);
      const found = [];
      for await (const { event, data, id } of plain.events("POST", "/api/carddav/sync")) found.push([event, data, id]);
      return found;
    }""")
    assert told == [["progress", '{"n": 1}', ""], ["complete", "a\nb", ""], ["message", "", "7"]]


# Sessions.


def test_session_writes_with_the_csrf_token_and_after_it_has_changed(kit: KitPages, page: Page) -> None:
    assert (
        page.evaluate("connection.ask('POST', '/api/groups', { name: 'First' }).then(({ group }) => group.name)")
        == "First"
    )
    page.context.add_cookies([{"name": "csrftoken", "value": "x" * 32, "url": kit.server.base}])
    kit.chromium.complaints.expected.append("status of 403")
    assert (
        page.evaluate("connection.ask('POST', '/api/groups', { name: 'Second' }).then(({ group }) => group.name)")
        == "Second"
    )
    assert page.evaluate("ended") == 0


def test_first_writes_of_a_browser_ask_for_the_csrf_token_together(kit: KitPages, page: Page) -> None:
    """Else the second answer would replace the cookie to which the token of the first belongs: 403 in the console."""
    page.evaluate("""Promise.all(["First", "Second", "Third"].map((name) =>
      connection.ask("POST", "/api/groups", { name })))""")
    assert Group.unscoped.count() == 3
    assert kit.requests.count("GET /api/auth/csrf") == 1


def test_ended_session_is_told_once_per_answer_and_keeps_the_edits(kit: KitPages, page: Page, alice: User) -> None:
    page.evaluate("copy.create('person', { name: 'Ada' })")
    page.context.clear_cookies()
    kit.chromium.complaints.expected.append("status of 401")
    assert page.evaluate("copy.sync().catch((error) => [error.status, error.code])") == [401, "unauthenticated"]
    assert page.evaluate("ended") > 0
    kit.prepare(page.context, kit.server.base, alice)
    page.evaluate("copy.sync()")
    assert Person.unscoped.get().name == "Ada"


def test_refusal_of_another_server_ends_no_session(kit: KitPages, page: Page) -> None:
    kit.chromium.complaints.expected.append("status of 401")
    body = '{"success": false, "error": "Wrong password.", "code": "auth"}'
    page.context.route("**/api/carddav/connection/test", lambda route: route.fulfill(status=401, body=body))
    page.evaluate("connection.request('POST', '/api/carddav/connection/test', {})")
    assert page.evaluate("ended") == 0


def test_photo_is_set_and_its_address_changes_with_it(page: Page, alice: User, media: Path) -> None:
    ada = make_person(alice, name="Ada")
    pictures = [list(picture(color=color)) for color in ("red", "blue")]
    told = page.evaluate(
        """async ([id, pictures]) => {
          const urls = [];
          for (const bytes of pictures) {
            const photo = await connection.setPhoto(id, new Blob([new Uint8Array(bytes)], { type: "image/jpeg" }));
            urls.push(connection.photoUrl({ id, photo }));
          }
          const answer = await fetch(urls[1]);
          const none = connection.photoUrl({ id, photo: null });
          return [new Set(urls).size, answer.status, answer.headers.get("Content-Type"), none];
        }""",
        [str(ada.pk), pictures],
    )
    assert told == [2, 200, "image/jpeg", None]


# Photos among the edits.

# Defines `paint(color)`, which gives a JPEG, and `shown(id)`, what the copy shows.
PAINT = """() => {
  window.paint = async (color) => {
    const canvas = new OffscreenCanvas(40, 40);
    const context = canvas.getContext("2d");
    context.fillStyle = color;
    context.fillRect(0, 0, 40, 40);
    return canvas.convertToBlob({ type: "image/jpeg" });
  };
  window.shown = async (id) => connection.photoUrl(await copy.get("person", id))?.slice(0, 11) ?? null;
}"""


def test_photo_of_a_new_person_waits_with_the_other_edits(kit: KitPages, page: Page) -> None:
    page.evaluate(PAINT)
    ada = page.evaluate("""async () => {
      const ada = await copy.create("person", { name: "Ada" });
      await copy.setPhoto(ada, await paint("red"));
      await copy.setPhoto(ada, await paint("blue"));
      await copy.update("person", ada, { surname: "Lovelace" });
      return ada;
    }""")
    # The page is closed before anything was sent.
    again = kit.page(page.context)
    page.close()
    again.evaluate(PAINT)
    assert again.evaluate("(id) => shown(id)", ada) == "data:image/"
    assert again.evaluate(
        "copy.pending().then((edits) => edits.map(({ action, body }) => [action, 'photo' in body]))"
    ) == [
        ["create", False],
        ["update", True],
        ["update", False],
    ]
    assert again.evaluate("copy.sync()")["conflicts"] == 0
    assert again.evaluate("copy.pending().then(({ length }) => length)") == 0
    person = Person.unscoped.get()
    assert (person.photo is not None, person.surname) == (True, "Lovelace")
    assert again.evaluate("(id) => shown(id)", ada) == "http://127."
    assert sum("/photo" in request for request in kit.requests) == 1
    again.evaluate("(ada) => copy.setPhoto(ada, null)", ada)
    assert again.evaluate("(id) => shown(id)", ada) is None
    again.evaluate("copy.sync()")
    assert not Person.unscoped.get().photo


def test_photo_that_was_changed_elsewhere_is_a_conflict(page: Page, alice: User, media: Path) -> None:
    ada = make_person(alice, name="Ada")
    page.evaluate(PAINT)
    page.evaluate("copy.sync()")
    page.evaluate("async (ada) => copy.setPhoto(ada, await paint('red'))", str(ada.pk))
    set_person_photo(owner_id=alice.pk, person_id=ada.pk, picture=picture(color="blue"), now=timezone.now())
    theirs = Person.unscoped.get().photo
    assert page.evaluate("copy.sync()")["conflicts"] == 1
    assert Person.unscoped.get().photo == theirs
    page.evaluate("copy.conflicts().then(([conflict]) => copy.resolve(conflict, 'mine')).then(() => copy.sync())")
    assert Person.unscoped.get().photo not in (theirs, None)
    assert page.evaluate("copy.conflicts()") == []


@pytest.mark.parametrize("is_changed_since", [False, True])
def test_photo_whose_response_was_lost_is_no_conflict_with_itself(
    kit: KitPages, page: Page, alice: User, media: Path, is_changed_since: bool
) -> None:
    ada = make_person(alice, name="Ada")
    page.evaluate(PAINT)
    page.evaluate("copy.sync()")
    page.evaluate("async (ada) => copy.setPhoto(ada, await paint('red'))", str(ada.pk))
    stored = threading.Event()

    def lose_response(route: Route) -> None:
        route.fetch()
        stored.set()

    page.route("**/photo", lose_response)
    page.evaluate("void copy.sync().catch(() => undefined)")
    while not stored.is_set():
        page.wait_for_timeout(50)
    red = Person.unscoped.get().photo
    if is_changed_since:
        set_person_photo(owner_id=alice.pk, person_id=ada.pk, picture=picture(color="blue"), now=timezone.now())
    else:
        client_of(alice).ok("PUT", f"/api/people/{ada.pk}", {"notes": "elsewhere"})
    last = Person.unscoped.get().photo
    again = kit.page(page.context)
    page.close()
    assert again.evaluate("copy.sync()")["conflicts"] == 0
    assert again.evaluate("copy.pending()") == []
    # It was sent once: what another device has set since stays.
    assert (Person.unscoped.get().photo, last == red) == (last, not is_changed_since)
    assert again.evaluate("(ada) => copy.get('person', ada).then(({ photo }) => photo)", str(ada.pk)) == last


def test_photo_meets_a_newer_version_of_the_person(page: Page, alice: User, media: Path) -> None:
    """412 for what others have changed of them is no conflict; nor is the deletion after an own photo."""
    ada = make_person(alice, name="Ada")
    page.evaluate(PAINT)
    page.evaluate("copy.sync()")
    page.evaluate("async (ada) => copy.setPhoto(ada, await paint('red'))", str(ada.pk))
    client_of(alice).ok("PUT", f"/api/people/{ada.pk}", {"notes": "elsewhere"})
    assert page.evaluate("copy.push()") == 1
    person = Person.unscoped.get()
    assert (bool(person.photo), person.notes) == (True, "elsewhere")
    page.evaluate(
        """async (ada) => {
          await copy.setPhoto(ada, await paint("blue"));
          await copy.delete("person", ada);
        }""",
        str(ada.pk),
    )
    assert page.evaluate("copy.sync()")["conflicts"] == 0
    assert Person.unscoped.get().deleted_at is not None


def test_photo_brings_what_another_device_changed_meanwhile(
    kit: KitPages, page: Page, alice: User, media: Path
) -> None:
    """The ETag of the answer may be of a later version than the copy's. A later edit is a conflict all the same."""
    ada = make_person(alice, name="Ada", notes="old")
    page.evaluate(PAINT)
    page.evaluate("copy.sync()")
    page.evaluate(
        """async (ada) => {
          await copy.setPhoto(ada, await paint("red"));
          await copy.update("person", ada, { notes: "mine" });
        }""",
        str(ada.pk),
    )

    def after_photo(route: Route) -> None:
        response = route.fetch()
        other = client_of(alice)
        other.ok("PUT", f"/api/people/{ada.pk}", {"notes": "elsewhere", "surname": "Lovelace"})
        etag = other.get(f"/api/people/{ada.pk}")["ETag"]
        route.fulfill(response=response, headers={**response.headers, "etag": etag})

    page.route("**/photo", after_photo, times=1)
    assert page.evaluate("copy.push()") >= 1
    person = Person.unscoped.get()
    assert (bool(person.photo), person.notes, person.surname) == (True, "elsewhere", "Lovelace")
    (conflict,) = page.evaluate("copy.conflicts()")
    assert (conflict["field"], conflict["mine"], conflict["theirs"]) == ("notes", "mine", "elsewhere")
    assert page.evaluate("(ada) => copy.get('person', ada).then(({ surname }) => surname)", str(ada.pk)) == "Lovelace"


def test_person_removed_for_good_is_made_anew_with_the_new_photo(
    kit: KitPages, page: Page, alice: User, media: Path
) -> None:
    ada = make_person(alice, name="Ada")
    kit.chromium.complaints.expected.append("status of 404")
    page.evaluate(PAINT)
    page.evaluate("copy.sync()")
    page.evaluate("async (ada) => copy.setPhoto(ada, await paint('red'))", str(ada.pk))
    client_of(alice).ok("DELETE", f"/api/people/{ada.pk}")
    client_of(alice).ok("DELETE", f"/api/people/{ada.pk}/permanent")
    assert page.evaluate("copy.sync()")["conflicts"] == 1
    page.evaluate("copy.conflicts().then(([conflict]) => copy.resolve(conflict, 'mine'))")
    page.evaluate("copy.push()")
    again = Person.unscoped.get()
    assert (again.pk != ada.pk, again.name, bool(again.photo)) == (True, "Ada", True)
    shown = page.evaluate("(id) => copy.get('person', id)", str(again.pk))
    assert (shown["name"], shown["photo"], shown["phoneNumbers"]) == ("Ada", again.photo, [])


def test_photo_that_is_refused_waits_for_the_user(kit: KitPages, page: Page, alice: User) -> None:
    ada = make_person(alice, name="Ada")
    kit.chromium.complaints.expected.append("status of 400")
    page.evaluate("copy.sync()")
    page.evaluate("(ada) => copy.setPhoto(ada, new Blob(['no picture'], { type: 'image/png' }))", str(ada.pk))
    assert page.evaluate("copy.sync()")["refused"] == 1
    page.evaluate("copy.refused().then(([edit]) => copy.discard(edit))")
    assert page.evaluate("(ada) => copy.get('person', ada).then(({ photo }) => photo)", str(ada.pk)) is None


def test_another_account_gets_a_store_of_its_own(kit: KitPages, page: Page) -> None:
    page.evaluate("copy.create('person', { name: 'Ada' }).then(() => copy.sync())")
    other = make_user("others@example.org")
    told = page.evaluate(
        "(token) => new kit.Copy(store, new kit.Connection('', token)).sync().catch((error) => error.message)",
        make_token(other),
    )
    assert "another account" in told
    assert Interaction.unscoped.count() == Relationship.unscoped.count() == 0
    expect(page).to_have_title("ready")
