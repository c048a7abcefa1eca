// A form whose values are drafts: they survive a reload, a navigation, a new version and a conflict, and end only when they
// are saved or discarded. No incoming change touches them: what the user saw when the form was opened is kept as `seen`, the
// record as `opened`, so that a save sends the changed fields alone, with the base that conflicts are found by (`edit`). All
// other fields are as the newest record has them.
import { type Signal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";

const STORED_AFTER_MILLISECONDS = 250;

interface Draft<V> {
  seen: V;
  values: V;
  opened?: object | null;
}

// The fields of a record that a form has changed, and what they were when it was opened.
export interface FormEdit<R extends object> {
  changes: Partial<R>;
  seen: Partial<R>;
}

export class Form<V extends object> {
  readonly values: Signal<V>;
  readonly errors = signal<Record<string, string>>({});
  readonly wasRestored: boolean;
  readonly #key: string;
  #opened: object | null; // the record
  #seen: V;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(key: string, initial: V, opened: object | null = null) {
    this.#key = `draft ${key}`;
    const draft = readDraft<V>(this.#key);
    this.wasRestored = draft !== null;
    this.#seen = draft?.seen ?? initial;
    this.#opened = draft ? (draft.opened ?? null) : opened;
    this.values = signal(draft?.values ?? initial);
  }

  get seen(): V {
    return this.#seen;
  }

  set<F extends keyof V>(field: F, value: V[F]): void {
    this.values.value = { ...this.values.peek(), [field]: value };
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.store(), STORED_AFTER_MILLISECONDS);
  }

  // The fields that differ from what the user saw.
  get changes(): Partial<V> {
    const entries = Object.entries(this.values.value) as [keyof V, V[keyof V]][];
    return Object.fromEntries(entries.filter(([field, value]) => !isEqual(value, this.seen[field]))) as Partial<V>;
  }

  // What a save sends. `toRecord` makes fields of a record of the form's values; the fields that differ from those of what
  // was seen are the user's.
  edit<R extends object>(toRecord: (values: V) => R): FormEdit<R> {
    const [now, before] = [toRecord(this.values.peek()), toRecord(this.seen)];
    const changed = (Object.keys(now) as (keyof R)[]).filter((field) => !isEqual(now[field], before[field]));
    const pick = (record: object) => Object.fromEntries(changed.map((field) => [field, (record as R)[field] ?? null])) as Partial<R>;
    return { changes: pick(now), seen: pick(this.#opened ?? before) };
  }

  get isChanged(): boolean {
    return Object.keys(this.changes).length > 0;
  }

  // Writes the draft now, such as when the page is hidden.
  store(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.isChanged) return localStorage.removeItem(this.#key);
    try {
      localStorage.setItem(this.#key, JSON.stringify({ seen: this.seen, values: this.values.peek(), opened: this.#opened } satisfies Draft<V>));
    } catch {
      // No room: the values stay in the page.
    }
  }

  // Writes what was typed last, as the form goes from the page.
  flush(): void {
    if (this.#timer !== undefined) this.store();
  }

  // Ends the draft: it was saved, or is not wanted.
  end(): void {
    clearTimeout(this.#timer);
    localStorage.removeItem(this.#key);
    this.#timer = undefined;
  }

  // For a form that stays open: what was saved is what its user has seen now. `changes` are those of the record.
  endAndStay(changes: object = {}): void {
    this.show(this.values.peek(), changes);
  }

  // For a form that stays open: shows these values, which the record with these changes has.
  show(values: V, changes: object): void {
    this.end();
    this.#seen = values;
    if (this.#opened) this.#opened = { ...this.#opened, ...changes };
    this.values.value = { ...values };
  }

  // For a form that saves each change: these values are the record's now. What was typed meanwhile stays, as unsaved.
  wasSaved(values: V): void {
    if (this.values.peek() === values) return this.show(values, {});
    this.#seen = values;
    this.store();
  }

  // For a form that stays open: shows the newest record as long as nothing was typed.
  follow(current: V): void {
    if (this.isChanged || isEqual(this.seen, current)) return;
    this.#seen = current;
    this.values.value = current;
  }
}

// The form with this key. `initial` and `opened`, the record that is changed, count when it is opened for the first time, and
// not again.
export function useForm<V extends object>(key: string, initial: () => V, opened: object | null = null): Form<V> {
  const form = useMemo(() => new Form(key, initial(), opened), [key]);
  useEffect(() => {
    const store = () => form.store();
    addEventListener("pagehide", store);
    document.addEventListener("visibilitychange", store);
    return () => {
      form.flush();
      removeEventListener("pagehide", store);
      document.removeEventListener("visibilitychange", store);
    };
  }, [form]);
  return form;
}

// Null without one, also if it cannot be read: a broken draft must not keep the form from opening.
function readDraft<V>(key: string): Draft<V> | null {
  try {
    const draft = JSON.parse(localStorage.getItem(key) ?? "null") as Draft<V> | null;
    return draft?.values && draft.seen ? draft : null;
  } catch {
    return null;
  }
}

export function hasDraft(key: string): boolean {
  return localStorage.getItem(`draft ${key}`) !== null;
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
}
