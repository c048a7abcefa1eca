// A copy in a browser's IndexedDB: it outlives the page, and what was written is on disk when the promise ends.
import type { Change, Rows, Store, Turn } from "./store.ts";

const TABLES = ["records", "edits", "conflicts", "facts"] as const;

export class IndexedDbStore implements Store {
  readonly #database: IDBDatabase;

  private constructor(database: IDBDatabase) {
    this.#database = database;
  }

  // The database of this name, made where there is none. One account each: take its id into the name.
  static async open(name: string): Promise<IndexedDbStore> {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => TABLES.forEach((table) => request.result.createObjectStore(table));
    return new IndexedDbStore(await answer(request));
  }

  get<T extends keyof Rows>(table: T, key: string): Promise<Rows[T] | undefined> {
    return answer(this.#database.transaction(table).objectStore(table).get(key));
  }

  all<T extends keyof Rows>(table: T): Promise<Rows[T][]> {
    return answer(this.#database.transaction(table).objectStore(table).getAll());
  }

  async write(changes: Change[]): Promise<void> {
    if (changes.length === 0) return;
    const tables = new Set(changes.map(({ table }) => table));
    const transaction = this.#database.transaction([...tables], "readwrite", { durability: "strict" });
    const end = new Promise<void>((done, fail) => {
      transaction.oncomplete = () => done();
      transaction.onabort = () => fail(transaction.error ?? new Error("The browser has taken the write back."));
    });
    try {
      for (const { table, key, row } of changes) {
        const rows = transaction.objectStore(table);
        if (row === undefined) rows.delete(key);
        else rows.put(row, key);
      }
    } catch (error) {
      transaction.abort(); // a row that cannot be stored is found out at once: nothing of the others stays either
      await end.catch(() => undefined);
      throw error;
    }
    return end;
  }

  // All tabs of the origin stand in line, by the Web Locks that a page has which came over https or from this machine.
  // A tab that is closed gives its turn up.
  async alone<T>(kind: Turn, work: () => Promise<T>): Promise<T> {
    const locks: LockManager | undefined = navigator.locks;
    return locks ? await locks.request(`${this.#database.name} ${kind}`, work) : work();
  }

  close(): void {
    this.#database.close();
  }
}

function answer<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((done, fail) => {
    request.onsuccess = () => done(request.result);
    request.onerror = () => fail(request.error);
  });
}
