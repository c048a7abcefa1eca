// A store in a browser's IndexedDB. It survives the page; an edit is on disk when the promise of its write resolves.
import { refsOf } from "./kinds.ts";
import { createBlocks, readByPrefix, readByRef, readRecords, resultOf, startingWith, writeRecords } from "./recordRows.ts";
import type { Change, LockName, RecordRow, Rows, Selection, Store, WriteOptions } from "./store.ts";

const TABLES = ["records", "edits", "conflicts", "facts"] as const;
const VERSION = 4; // since 3 records are stored as text, since 4 also in blocks, which older versions could not read

export class IndexedDbStore implements Store {
  readonly #database: IDBDatabase;
  readonly #channel: BroadcastChannel;

  private constructor(database: IDBDatabase, onClosed?: () => void) {
    this.#database = database;
    this.#channel = new BroadcastChannel(`${database.name} changes`);
    // Another tab removes the database or upgrades it, which would wait until this one is closed.
    database.onversionchange = () => {
      this.close();
      onClosed?.();
    };
    // The browser has removed it, such as when the user clears the data of the site.
    database.onclose = () => onClosed?.();
  }

  // Opens the database with this name, or creates it. It is for one account: use the id of the account in the name.
  // `onClosed` is called if another tab or the browser removes it: nothing can be read or written then.
  static async open(name: string, onClosed?: () => void): Promise<IndexedDbStore> {
    const request = indexedDB.open(name, VERSION);
    request.onupgradeneeded = ({ oldVersion }) => {
      if (oldVersion < 1) TABLES.forEach((table) => request.result.createObjectStore(table));
      if (oldVersion < 2) {
        const records = request.transaction!.objectStore("records");
        records.createIndex("refs", "refs", { multiEntry: true });
        if (oldVersion === 1) addRefs(records);
      }
      if (oldVersion < 4) createBlocks(request.result);
    };
    return new IndexedDbStore(await resultOf(request), onClosed);
  }

  // Removes the database with this name, also if other tabs have it open: they close it.
  static async remove(name: string): Promise<void> {
    await resultOf(indexedDB.deleteDatabase(name));
  }

  // The names of the databases that begin with `prefix`. Empty where the browser does not tell.
  static async names(prefix: string): Promise<string[]> {
    const found = (await indexedDB.databases?.()) ?? [];
    return found.flatMap(({ name }) => (name?.startsWith(prefix) ? [name] : []));
  }

  async get<T extends keyof Rows>(table: T, key: string): Promise<Rows[T] | undefined> {
    if (table === "records") return (await readRecords(this.#reading(), [key]))[0] as Rows[T] | undefined;
    return resultOf<Rows[T] | undefined>(this.#database.transaction(table).objectStore(table).get(key));
  }

  async many<T extends keyof Rows>(table: T, keys: string[]): Promise<(Rows[T] | undefined)[]> {
    if (table === "records") return (await readRecords(this.#reading(), keys)) as (Rows[T] | undefined)[];
    const rows = this.#database.transaction(table).objectStore(table);
    return Promise.all(keys.map((key) => resultOf<Rows[T] | undefined>(rows.get(key))));
  }

  async all<T extends keyof Rows>(table: T, { prefix, ref }: Selection = {}): Promise<Rows[T][]> {
    if (table !== "records") {
      const rows = this.#database.transaction(table).objectStore(table);
      return resultOf<Rows[T][]>(rows.getAll(prefix === undefined ? null : startingWith(prefix)));
    }
    const found = ref === undefined ? await readByPrefix(this.#reading(), prefix) : await readByRef(this.#reading(), ref);
    return found as Rows[T][];
  }

  #reading(): IDBTransaction {
    return this.#database.transaction(["records", "blocks"]);
  }

  async write(changes: Change[], { isFirstReading = false }: WriteOptions = {}): Promise<void> {
    if (changes.length === 0) return;
    const tables = new Set<string>(changes.map(({ table }) => table));
    // What the user has typed must be on disk. What came from the service can be read again: its cursor is in the same write.
    const durability = tables.has("edits") ? "strict" : "relaxed";
    if (tables.has("records")) tables.add("blocks");
    const transaction = this.#database.transaction([...tables], "readwrite", { durability });
    const end = new Promise<void>((done, fail) => {
      transaction.oncomplete = () => done();
      transaction.onabort = () => fail(transaction.error ?? new Error("The browser has taken the write back."));
    });
    try {
      for (const { table, key, row } of changes) {
        if (table === "records") continue;
        if (row === undefined) transaction.objectStore(table).delete(key);
        else transaction.objectStore(table).put(row, key);
      }
      if (tables.has("records")) await writeRecords(transaction, changes, isFirstReading);
    } catch (error) {
      // put throws at once for a row that cannot be stored: store none of the others either.
      if (transaction.error === null) transaction.abort();
      await end.catch(() => undefined);
      throw error;
    }
    return end;
  }

  // Removes all rows but edits and conflicts, and the facts but the number of the last edit, in one transaction.
  async strip(facts: Record<string, string | number>): Promise<void> {
    const transaction = this.#database.transaction(["records", "blocks", "facts"], "readwrite", { durability: "strict" });
    const rows = transaction.objectStore("facts");
    const lastNumber = await resultOf<string | number | undefined>(rows.get("lastNumber"));
    for (const table of ["records", "blocks", "facts"]) transaction.objectStore(table).clear();
    for (const [key, row] of Object.entries({ ...facts, lastNumber: lastNumber ?? 0 })) rows.put(row, key);
    await new Promise<void>((done, fail) => {
      transaction.oncomplete = () => done();
      transaction.onabort = () => fail(transaction.error);
    });
  }

  // Serializes all tabs of the origin by Web Locks, which are available to pages loaded over https or from this machine.
  // Closing a tab releases its lock.
  async withLock<T>(name: LockName, work: () => Promise<T>): Promise<T> {
    const locks: LockManager | undefined = navigator.locks;
    return locks ? await locks.request(`${this.#database.name} ${name}`, work) : work();
  }

  // Tells the copies in other tabs which records have changed.
  notify(keys: string[]): void {
    this.#channel.postMessage(keys);
  }

  listen(listener: (keys: string[]) => void): void {
    this.#channel.addEventListener("message", ({ data }: MessageEvent<string[]>) => listener(data));
  }

  close(): void {
    this.#channel.close();
    this.#database.close();
  }
}

// Completes the rows of version 1.
function addRefs(records: IDBObjectStore): void {
  const request = records.openCursor();
  request.onsuccess = () => {
    const row = request.result?.value as RecordRow | undefined;
    if (row === undefined) return;
    request.result!.update({ ...row, refs: refsOf(row.type, row.record) });
    request.result!.continue();
  };
}
