// The account on this device: the service's records, edits that were not sent yet, conflicts. The interface is a small part
// of IndexedDB's: tables of rows by string keys. Each write is one transaction, so a program that is killed at any point
// finds the rows as they were before the write or after it.

export type Fields = Record<string, unknown>;
export type Action = "create" | "update" | "delete" | "restore" | AnswerAction;
// Answers to a meeting that a calendar proposes.
export type AnswerAction = "accept" | "dismiss";

// A record as the service last returned it. `etag` is for If-Match, `reading` the number of the full reading of the feed,
// `revision` that of the feed (absent in a response to an edit). `refs` names what it hangs on: see refsOf in kinds.ts.
export interface RecordRow {
  type: string;
  id: string;
  etag: string;
  record: Fields;
  reading: number;
  revision?: number;
  refs?: string[];
}

// A change by the user. `base` has the previous values of the fields in `body`; for a deletion, the whole record. `etag` is
// that of the deleted record, and `seen` the revision up to which the user had seen the account. The `body` of a deletion
// has its options. `sending`: it was sent, and perhaps executed; `sentWith` is the ETag with which a photo was. `problem` is
// the body of the refusal. It is not sent before the time `heldUntil`, so that its user can take it back.
export interface Edit {
  number: number;
  idempotencyKey: string;
  type: string;
  id: string;
  action: Action;
  base: Fields;
  body: Fields;
  etag: string | null;
  seen?: number;
  sentWith?: string | undefined;
  heldUntil?: number;
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
  facts: string | number | Blob; // a file that waits to be sent is one
}

// Inserts or replaces the row with this key; without `row`, removes it. `about` is the key of the record that the row is
// about, for those who watch it.
export type Change = {
  [T in keyof Rows]: { table: T; key: string; row?: Rows[T] | undefined; about?: string };
}[keyof Rows];

// Which rows of a table: those whose key begins with `prefix`, or those that have this one of their `refs`.
export interface Selection {
  prefix?: string;
  ref?: string;
}

// `isFirstReading`: nearly all records are new, so a store may write many of them at once.
export interface WriteOptions {
  isFirstReading?: boolean;
}

export interface Store {
  get<T extends keyof Rows>(table: T, key: string): Promise<Rows[T] | undefined>;
  // The rows with these keys, in the order of `keys`.
  many<T extends keyof Rows>(table: T, keys: string[]): Promise<(Rows[T] | undefined)[]>;
  // The rows of a table, or those of the selection, in the order of their keys.
  all<T extends keyof Rows>(table: T, selection?: Selection): Promise<Rows[T][]>;
  // All changes or none.
  write(changes: Change[], options?: WriteOptions): Promise<void>;
  // If several programs share the store: runs `work` while no other program holds this lock.
  withLock?<T>(name: LockName, work: () => Promise<T>): Promise<T>;
  // If several programs share the store: tells the others which records have changed, and calls back if they do.
  notify?(keys: string[]): void;
  listen?(listener: (keys: string[]) => void): void;
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

  async many<T extends keyof Rows>(table: T, keys: string[]): Promise<(Rows[T] | undefined)[]> {
    return Promise.all(keys.map((key) => this.get(table, key)));
  }

  async all<T extends keyof Rows>(table: T, { prefix = "", ref }: Selection = {}): Promise<Rows[T][]> {
    const rows = [...(this.#tables.get(table) ?? [])].filter(([key]) => key.startsWith(prefix));
    const sorted = rows.sort(([one], [other]) => (one < other ? -1 : 1));
    const parsed = sorted.map(([, text]) => JSON.parse(text) as Rows[T]);
    return ref === undefined ? parsed : parsed.filter((row) => (row as RecordRow).refs?.includes(ref));
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
