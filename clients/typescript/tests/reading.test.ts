// Reading the account, and what is kept of it in memory.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Copy, LiveTable, MemoryStore, type Change } from "../src/index.ts";
import { elsewhere, newDevice } from "./accounts.ts";

async function addPeople(token: string, number: number): Promise<void> {
  for (let start = 0; start < number; start += 100) {
    const operations = Array.from({ length: Math.min(100, number - start) }, (_, n) => (
      { method: "POST", path: "/api/people", body: { name: `Person ${start + n}` } }
    ));
    await elsewhere(token).ask("POST", "/api/batch", { operations });
  }
}

function turn(): Promise<void> {
  return new Promise((done) => setTimeout(done));
}

test("people are read first, with progress", async () => {
  const { copy, requests, token } = newDevice();
  await addPeople(token, 3);
  const told: boolean[][] = [];
  await copy.sync({ onProgress: ({ done, total, isUsable }) => told.push([done > 0, (total ?? 0) >= 3, isUsable]) });
  assert.deepEqual(told, [[false, true, false], ...Array(3).fill([true, true, true])]);
  const feeds = requests.filter((request) => request.includes("/api/changes"));
  assert.deepEqual(feeds.map((feed) => feed.includes("person")), [true, false, false]);
});

// A store that takes its time for a page, and notes when it is written.
class SlowStore extends MemoryStore {
  readonly #events: string[];

  constructor(events: string[]) {
    super();
    this.#events = events;
  }

  override async write(changes: Change[]): Promise<void> {
    await new Promise((done) => setTimeout(done, 300));
    if (changes.length > 900) this.#events.push("written");
    return super.write(changes);
  }
}

test("the next page is asked for before the first one is stored", async () => {
  const events: string[] = [];
  const { connection, token } = newDevice((request) => {
    if (request.url.includes("cursor=")) events.push("asked");
    return fetch(request);
  });
  await addPeople(token, 1100);
  const copy = new Copy(new SlowStore(events), connection);
  await copy.sync();
  assert.deepEqual(events.slice(0, 2), ["asked", "written"]);
  assert.equal((await copy.all("person")).length, 1100);
});

test("a live table reads nothing again that a sync has just stored, and shows the unsent edits of it", async () => {
  const { copy, store, token } = newDevice();
  await addPeople(token, 3);
  let read = 0;
  const many = store.many.bind(store);
  store.many = (table, keys) => {
    read += keys.length;
    return many(table, keys);
  };
  const open = async () => {
    const table = new LiveTable(copy, "person", ({ name, notes }) => `${name}: ${notes}`);
    await table.open();
    return table;
  };
  const table = await open();
  await copy.sync();
  while (table.rows.size < 3) await turn();
  assert.equal(read, 0);
  const [ada] = [...table.rows.keys()];
  await copy.update("person", ada!, { notes: "mine" });
  await elsewhere(token).ask("PUT", `/api/people/${ada}`, { name: "Elsewhere" });
  const later = await open();
  await copy.pull();
  while (!later.rows.get(ada!)?.startsWith("Elsewhere")) await turn();
  assert.equal(later.rows.get(ada!), "Elsewhere: mine");
});
