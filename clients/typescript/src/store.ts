// Where a copy of the account is kept. The interface is that of IndexedDB in short: tables of rows by text keys, and
// writes that are one transaction, so that a program that ends anywhere finds the rows as before or as after.

export type Fields = Record<string, unknown>;
export type Action = "create" | "update" | "delete" | "restore";

// What the service had when it was last asked; `etag` is for If-Match, `reading` counts readings from nothing.
export interface RecordRow {
  type: string;
  id: string;
  etag: string;
  record: Fields;
  reading: number;
}

// Something the user did. `base` has the values that were seen of what `body` changes (of a deletion: the record),
// `etag` the record's when it was deleted; `sending` was sent and perhaps carried out, `problem` is a refusal's body.
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

// What was done here and elsewhere, and could not be joined: the service has `theirs`, `mine` is kept here. With `field`
// null it is about the whole record: of an update that it was deleted elsewhere, of a deletion that it was changed.
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

// A row that is put in the place of what the key had; without `row` it is removed.
export type Change = { [T in keyof Rows]: { table: T; key: string; row?: Rows[T] | undefined } }[keyof Rows];

export interface Store {
  get<T extends keyof Rows>(table: T, key: string): Promise<Rows[T] | undefined>;
  // In the order of their keys.
  all<T extends keyof Rows>(table: T): Promise<Rows[T][]>;
  // All or nothing.
  write(changes: Change[]): Promise<void>;
  // Where several programs share what is stored: work of one kind by one of them at a time.
  alone?<T>(kind: Turn, work: () => Promise<T>): Promise<T>;
}

// Changes read before they write. A sync takes as long as the network does; changes go on beside it.
export type Turn = "change" | "sync";

// Gone with the program: for tests, and for what is read once.
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
