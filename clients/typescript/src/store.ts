// The account on this device: the service's records, edits that were not sent yet, conflicts. The interface is a small part
// of IndexedDB's: tables of rows by string keys. Each write is one transaction, so a program that is killed at any point
// finds the rows as they were before the write or after it.

export type Fields = Record<string, unknown>;
export type Action = "create" | "update" | "delete" | "restore";

// A record as the service last returned it. `etag` is for If-Match, `reading` the number of the full reading of the feed.
export interface RecordRow {
  type: string;
  id: string;
  etag: string;
  record: Fields;
  reading: number;
}

// A change by the user. `base` has the previous values of the fields in `body`; for a deletion, the whole record. `etag` is
// that of the deleted record. `sending`: it was sent, and perhaps executed. `problem` is the body of the refusal.
export interface Edit {
  number: number;
  idempotencyKey: string;
  type: string;
  id: string;
  action: Action;
  base: Fields;
  body: Fields;
  etag: string | null;
  state: "waiting" | "sending" | "refused";
  problem: Fields | null;
}

// Changes here and elsewhere that could not be merged. The service has `theirs`; `mine` is kept only here. If `field` is
// null, the conflict is about the whole record: for an update it was deleted elsewhere, for a deletion it was changed.
export interface Conflict {
  key: string;
  type: string;
  id: string;
  action: Action;
  field: string | null;
  base: unknown;
  mine: unknown;
  theirs: unknown;
}

export interface Rows {
  records: RecordRow;
  edits: Edit;
  conflicts: Conflict;
  facts: string | number;
}

// Inserts or replaces the row with this key; without `row`, removes it.
export type Change = { [T in keyof Rows]: { table: T; key: string; row?: Rows[T] | undefined } }[keyof Rows];

export interface Store {
  get<T extends keyof Rows>(table: T, key: string): Promise<Rows[T] | undefined>;
  // The rows of a table, in the order of their keys.
  all<T extends keyof Rows>(table: T): Promise<Rows[T][]>;
  // All changes or none.
  write(changes: Change[]): Promise<void>;
  // If several programs share the store: runs `work` while no other program holds this lock.
  withLock?<T>(name: LockName, work: () => Promise<T>): Promise<T>;
}

// "change": a change reads before it writes. "sync": lasts as long as its requests, while changes go on.
export type LockName = "change" | "sync";

// A store in memory, which is lost when the program ends: for tests, and for a copy that is read once.
export class MemoryStore implements Store {
  readonly #tables = new Map<string, Map<string, string>>();

  async get<T extends keyof Rows>(table: T, key: string): Promise<Rows[T] | undefined> {
    const text = this.#tables.get(table)?.get(key);
    return text === undefined ? undefined : (JSON.parse(text) as Rows[T]);
  }

  async all<T extends keyof Rows>(table: T): Promise<Rows[T][]> {
    const rows = [...(this.#tables.get(table) ?? [])].sort(([one], [other]) => (one < other ? -1 : 1));
    return rows.map(([, text]) => JSON.parse(text) as Rows[T]);
  }

  async write(changes: Change[]): Promise<void> {
    for (const { table, key, row } of changes) {
      const rows = this.#tables.get(table) ?? new Map<string, string>();
      this.#tables.set(table, rows);
      if (row === undefined) rows.delete(key);
      else rows.set(key, JSON.stringify(row));
    }
  }
}
