// The records of one type in memory, for lists: read once, then kept current record by record.
import type { Copy } from "./copy.ts";
import type { Records, RecordType } from "./kinds.ts";
import type { Fields } from "./store.ts";

const SLICE_MILLISECONDS = 40; // after which whatever waits for the thread has its turn

// `Row` is what the caller keeps of a record: a list of ten thousand people needs little of each.
export class LiveTable<T extends RecordType, Row> {
  readonly rows = new Map<string, Row>();
  readonly #copy: Copy;
  readonly #type: T;
  readonly #toRow: (record: Records[T]) => Row;
  readonly #onChange: (ids: ReadonlySet<string>) => void;
  #waiting = new Set<string>();
  #stored = new Map<string, Fields | undefined>(); // those who wait and need not be read, as a sync has just stored them
  #isReading = false;
  #end: () => void = () => undefined;

  // `onChange` is called with the ids of the records that were added, changed or removed.
  constructor(
    copy: Copy,
    type: T,
    toRow: (record: Records[T]) => Row,
    onChange: (ids: ReadonlySet<string>) => void = () => undefined,
  ) {
    this.#copy = copy;
    this.#type = type;
    this.#toRow = toRow;
    this.#onChange = onChange;
  }

  // Reads all records, and those that change from now on.
  async open(): Promise<void> {
    const prefix = `${this.#type}/`;
    this.#isReading = true; // changes wait until all were read
    this.#end = this.#copy.subscribe(({ keys, stored }) => {
      for (const key of keys) {
        if (!key.startsWith(prefix)) continue;
        const id = key.slice(prefix.length);
        this.#waiting.add(id);
        if (stored.has(key)) this.#stored.set(id, stored.get(key));
        else this.#stored.delete(id);
      }
      if (this.#waiting.size && !this.#isReading) void this.#readWaiting();
    });
    let begin = performance.now();
    for (const record of await this.#copy.all(this.#type)) {
      this.rows.set(record.id, this.#toRow(record));
      if (performance.now() - begin < SLICE_MILLISECONDS) continue;
      await nextTask();
      begin = performance.now();
    }
    this.#onChange(new Set(this.rows.keys()));
    this.#isReading = false;
    await this.#readWaiting();
  }

  close(): void {
    this.#end();
    this.#waiting.clear();
    this.#stored.clear();
  }

  // One reading at a time, so that an older one does not overwrite a newer one.
  async #readWaiting(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#waiting.size) {
        const [ids, stored] = [this.#waiting, this.#stored];
        [this.#waiting, this.#stored] = [new Set(), new Map()];
        const records = await this.#copy.many(this.#type, [...ids], stored);
        for (const id of ids) {
          const record = records.get(id);
          if (record) this.rows.set(id, this.#toRow(record));
          else this.rows.delete(id);
        }
        this.#onChange(ids);
      }
    } finally {
      this.#isReading = false;
    }
  }
}

// Where there is a scheduler, what was begun goes on before what is new.
function nextTask(): Promise<void> {
  const { scheduler } = globalThis as { scheduler?: { yield?: () => Promise<void> } };
  return scheduler?.yield?.() ?? new Promise((done) => setTimeout(done));
}
