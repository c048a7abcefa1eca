// What tests/clients/test_kit_in_browser.py and test_indexed_db.py run in a page of Chromium, as `tests`: what needs its
// IndexedDB, its session or its canvas. Each page has a copy in IndexedDB of the account in whose session it is.
import {
  beginSignIn,
  type Change,
  type Connection,
  Copy,
  type EditableType,
  IndexedDbStore,
  LiveTable,
  MemoryStore,
  type RecordRow,
  type RecordType,
  type Store,
  Syncer,
} from "../../src/index.ts";

declare const connection: Connection;
declare const store: IndexedDbStore;
declare const copy: Copy;

const at = new Date().toISOString();

function row(type: string, id: string, record: object = {}, refs: string[] = []): RecordRow {
  return { type, id, etag: "", reading: 0, record: { id, ...record }, refs };
}

function put(type: string, id: string, record: object = {}, refs: string[] = []): Change {
  return { table: "records", key: `${type}/${id}`, row: row(type, id, record, refs) };
}

function names(records: { name?: unknown }[]): unknown[] {
  return records.map(({ name }) => name);
}

// Calls back with the number of rows of each `getAll` of a table or an index of IndexedDB, but for those of the edits.
function watchReadings(onRead: (rows: number) => void): void {
  for (const target of [IDBObjectStore, IDBIndex]) {
    const { getAll } = target.prototype;
    target.prototype.getAll = function (this: IDBObjectStore | IDBIndex, ...given: any[]) {
      const request: IDBRequest<any[]> = getAll.apply(this as any, given as any);
      request.addEventListener("success", () => this.name !== "edits" && onRead(request.result.length));
      return request;
    };
  }
}

// A database as the version of the kit left it, whose tables are filled by `fill`.
async function makeDatabase(version: number, create: (database: IDBDatabase, transaction: IDBTransaction) => void): Promise<void> {
  const request = indexedDB.open("old", version);
  request.onupgradeneeded = () => create(request.result, request.transaction!);
  await new Promise((done) => (request.onsuccess = done));
  request.result.close();
}

const TABLES = ["records", "edits", "conflicts", "facts"];

export async function editOnPlainHttp(): Promise<[boolean, string]> {
  const ada = await copy.create("person", { name: "Ada" });
  await copy.sync();
  await copy.update("person", ada, { surname: "Lovelace" });
  const { group } = await connection.ask("POST", "/api/groups", { name: "Engines" });
  const ben = await copy.create("person", { name: "Ben", groupIds: [group.id] });
  await copy.sync();
  await copy.delete("person", ben);
  await copy.sync();
  const told = await beginSignIn("", "http://127.0.0.1/").then(String, (error: Error) => error.message);
  return [isSecureContext, told];
}

// The rows that each reading finds, and the records of three types.
export async function readRanges(): Promise<[number[], number[]]> {
  const people = Array.from({ length: 20 }, (_, n) => put("person", `p${n}`, { name: "N" }));
  await store.write([...people, put("relationship", "r", { personId: "p1" }), put("relationshipType", "t")]);
  const counts: number[] = [];
  watchReadings((rows) => counts.push(rows));
  const types: RecordType[] = ["group", "relationship", "relationshipType"];
  const found: number[] = [];
  for (const type of types) found.push((await copy.all(type)).length);
  return [counts, found];
}

// The groups of an account whose people and groups are in blocks, and the rows that were read for them.
export async function readBlocksOfGroups(): Promise<[number, number]> {
  const rows = [...Array(250).keys()].flatMap((n) => [put("person", `${n}`), put("group", `${n}`)]);
  await store.write(rows, { isFirstReading: true });
  let count = 0;
  watchReadings((read) => (count += read));
  return [(await copy.all("group")).length, count];
}

// How many dates, relationships and interactions of two people are found: unsent, sent, after the deletion of the first.
export async function readWhatHangsOnPeople(): Promise<number[][][]> {
  const [ada, ben] = [await copy.create("person", { name: "Ada" }), await copy.create("person", { name: "Ben" })];
  await copy.create("importantDate", { personId: ada, type: "BIRTHDAY", date: "1815-12-10" });
  await copy.create("importantDate", { personId: ben, type: "BIRTHDAY", date: "1817-12-10" });
  await copy.create("relationship", { personId: ada, relatedPersonId: ben });
  await copy.create("interaction", { personIds: [ada, ben], kind: "CALL", at });
  const read = async (id: string) => [
    (await copy.of("importantDate", id)).length,
    (await copy.of("relationship", id)).length,
    (await copy.of("interaction", id)).length,
  ];
  const unsent = [await read(ada), await read(ben)];
  await copy.sync();
  const sent = [await read(ada), await read(ben)];
  await copy.delete("person", ada);
  return [unsent, sent, [await read(ada), await read(ben)]];
}

export async function makeDatabaseOfVersion1(): Promise<void> {
  await makeDatabase(1, (database, transaction) => {
    for (const name of TABLES) database.createObjectStore(name);
    const old = { type: "importantDate", id: "d", etag: "", reading: 0, record: { id: "d", personId: "p" } };
    transaction.objectStore("records").put(old, "importantDate/d");
  });
}

// The names of the groups, of which one was stored by version 3, and the name of that one.
export async function readBesideRecordOfVersion3(): Promise<[unknown[], unknown]> {
  await makeDatabase(3, (database, transaction) => {
    for (const name of TABLES) database.createObjectStore(name);
    const records = transaction.objectStore("records");
    records.createIndex("refs", "refs", { multiEntry: true });
    records.put({ type: "group", id: "a", etag: "", reading: 0, refs: [], record: '{"name":"Old"}' }, "group/a");
  });
  const opened = await IndexedDbStore.open("old");
  await opened.write([put("group", "b", { name: "New" })], { isFirstReading: true });
  const old = await opened.get("records", "group/a");
  return [names((await opened.all("records")).map(({ record }) => record)), old?.record["name"]];
}

// A table of the people by name; `seen` has how many records each change of it was about.
export async function openLiveTable(): Promise<void> {
  const seen: number[] = [];
  const table = new LiveTable(copy, "person", ({ name }) => name, (ids) => seen.push(ids.size));
  Object.assign(window, { seen, table });
  await table.open();
}

// `told` has who changed what in this browser.
export function noteChanges(): void {
  const told: string[][] = [];
  copy.subscribe(({ keys, by }) => told.push([by, ...[...keys].map((key) => key.slice(0, 7))]));
  Object.assign(window, { told });
}

// `phases` has what the syncer of this page was doing, in order.
export function startSyncer(): void {
  const phases: string[] = [];
  const syncer = new Syncer(copy, connection, "copy", (state) => phases.push(state.phase));
  Object.assign(window, { phases, syncer });
  syncer.start();
}

export function hide(isHidden: boolean): void {
  Object.defineProperty(document, "hidden", { value: isHidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}

// Sets two photos. The number of their addresses, the status and type of the second, and the address without a photo.
export async function setPhotos([id, pictures]: [string, number[][]]): Promise<unknown[]> {
  const urls: string[] = [];
  for (const bytes of pictures) {
    const photo = await connection.setPhoto(id, new Blob([new Uint8Array(bytes)], { type: "image/jpeg" }));
    urls.push(connection.photoUrl({ id, photo })!);
  }
  const answer = await fetch(urls[1]!);
  const none = connection.photoUrl({ id, photo: null });
  return [new Set(urls).size, answer.status, answer.headers.get("Content-Type"), none];
}

// A JPEG of one colour.
async function paint(color: string): Promise<Blob> {
  const canvas = new OffscreenCanvas(40, 40);
  const context = canvas.getContext("2d")!;
  context.fillStyle = color;
  context.fillRect(0, 0, 40, 40);
  return canvas.convertToBlob({ type: "image/jpeg" });
}

// Sets an edit's photo, before the others of the person.
export async function paintPhoto([id, color]: [string, string]): Promise<void> {
  await copy.setPhoto(id, await paint(color));
}

export async function createPersonWithPhoto(): Promise<string> {
  const ada = await copy.create("person", { name: "Ada" });
  await paintPhoto([ada, "red"]);
  await paintPhoto([ada, "blue"]);
  await copy.update("person", ada, { surname: "Lovelace" });
  return ada;
}

// The beginning of the address of the photo that the copy shows.
export async function shownPhoto(id: string): Promise<string | null> {
  return connection.photoUrl((await copy.get("person", id))!)?.slice(0, 11) ?? null;
}

// The store.

export async function writeRows(): Promise<string> {
  const [a, b, c] = ["a", "b", "c"].map((id) => put("group", id, { name: id, lines: [1, null] })) as [Change, Change, Change];
  await store.write([b, a, c, { table: "facts", key: "cursor", row: "first" }]);
  await store.write([{ table: "records", key: "group/c" }, { table: "facts", key: "reading", row: 7 }]);
  await store.write([]);
  const broken = put("group", "z", { count: 1n });
  return store.write([{ table: "facts", key: "cursor", row: "second" }, broken]).then(String, (error: Error) => error.name);
}

export async function readRows(): Promise<unknown[]> {
  const [a, z] = await store.many("records", ["group/a", "group/z"]);
  return [
    names((await store.all("records")).map(({ record }) => record)),
    await store.all("edits"),
    await store.get("facts", "cursor"),
    await store.get("facts", "reading"),
    (await store.get("records", "group/z")) === undefined,
    [a?.record["lines"], z === undefined],
  ];
}

// How many rows and blocks of rows IndexedDB has.
export async function countRows(): Promise<[number, number]> {
  const request = indexedDB.open("copy");
  await new Promise((done) => (request.onsuccess = done));
  const transaction = request.result.transaction(["records", "blocks"]);
  const count = (name: string) =>
    new Promise<number>((done) => {
      const counted = transaction.objectStore(name).count();
      counted.onsuccess = () => done(counted.result);
    });
  const counts: [number, number] = [await count("records"), await count("blocks")];
  request.result.close();
  return counts;
}

// Reads until one more page is stored; whether that was all.
export async function readOnePage(): Promise<boolean> {
  const stop = new AbortController();
  copy.subscribe(() => stop.abort());
  return copy.pull({ signal: stop.signal }).then(() => true, () => false);
}

// Whether the copy is that of a store in memory that is read at once, and its relationships.
export async function compareWithCopyInMemory(): Promise<[boolean, number]> {
  const other = new Copy(new MemoryStore(), connection);
  await other.sync();
  const types: (EditableType | "settings")[] = ["settings", "group", "person", "importantDate", "relationship", "relationshipType"];
  const read = async (each: Copy) => JSON.stringify(await Promise.all(types.map((type) => each.all(type))));
  return [(await read(copy)) === (await read(other)), (await copy.all("relationship")).length];
}

// After random writes, of which the first are those of a first reading: "equal", or the step after which it is not.
export async function compareWithStoreInMemory(seed: number): Promise<string> {
  const random = (below: number) => (seed = (seed * 48271) % 2147483647) % below;
  const stores: Store[] = [await IndexedDbStore.open(`random ${seed}`), new MemoryStore()];
  const ids = [...Array(300).keys()];
  const newRow = (type: string, id: number) => ({
    ...row(type, String(id), { name: `${id}` }, type === "person" ? [] : [`relationship ${random(9)}`]),
    etag: String(random(1000)),
  });
  let isFirstReading = true;
  for (let step = 0; step < 30; step++) {
    isFirstReading &&= random(8) > 0;
    const changes: Change[] = [{ table: "facts", key: "cursor", row: step }];
    for (let each = random(isFirstReading ? 240 : 12); each > 0; each--) {
      const [type, id] = [["person", "relationship"][random(2)]!, ids[random(ids.length)]!];
      const isRemoved = random(isFirstReading ? 2000 : 4) === 0;
      changes.push({ table: "records", key: `${type}/${id}`, row: isRemoved ? undefined : newRow(type, id) });
    }
    for (const each of stores) await each.write(changes, { isFirstReading });
    const reads = (each: Store) =>
      Promise.all([
        each.all("records"),
        each.all("records", { prefix: "person/" }),
        each.all("records", { prefix: "relationship/1" }),
        each.all("records", { ref: `relationship ${step % 9}` }),
        each.get("records", `person/${step}`),
        each.many("records", ids.map((id) => `relationship/${id}`)),
      ]);
    const [found, expected] = (await Promise.all(stores.map(reads))).map((each) => JSON.stringify(each));
    if (found !== expected) return `step ${step}`;
  }
  return "equal";
}
