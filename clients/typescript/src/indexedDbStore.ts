// A store in a browser's IndexedDB. It survives the page; a write is on disk when its promise resolves.
import type { Change, LockName, Rows, Store } from "./store.ts";

const TABLES = ["records", "edits", "conflicts", "facts"] as const;

export class IndexedDbStore implements Store {
  readonly #database: IDBDatabase;

  private constructor(database: IDBDatabase) {
    this.#database = database;
  }

  // Opens the database with this name, or creates it. It is for one account: use the id of the account in the name.
  static async open(name: string): Promise<IndexedDbStore> {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => TABLES.forEach((table) => request.result.createObjectStore(table));
    return new IndexedDbStore(await resultOf(request));
  }

  get<T extends keyof Rows>(table: T, key: string): Promise<Rows[T] | undefined> {
    return resultOf(this.#database.transaction(table).objectStore(table).get(key));
  }

  all<T extends keyof Rows>(table: T): Promise<Rows[T][]> {
    return resultOf(this.#database.transaction(table).objectStore(table).getAll());
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
      transaction.abort(); // put throws at once for a row that cannot be stored: store none of the others either
      await end.catch(() => undefined);
      throw error;
    }
    return end;
  }

  // Serializes all tabs of the origin by Web Locks, which are available to pages loaded over https or from this machine.
  // Closing a tab releases its lock.
  async withLock<T>(name: LockName, work: () => Promise<T>): Promise<T> {
    const locks: LockManager | undefined = navigator.locks;
    return locks ? await locks.request(`${this.#database.name} ${name}`, work) : work();
  }

  close(): void {
    this.#database.close();
  }
}

function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((done, fail) => {
    request.onsuccess = () => done(request.result);
    request.onerror = () => fail(request.error);
  });
}
