// The open account: its copy and what views read of it, as signals. A view reads signals; an action calls the copy.
import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import {
  type Conflict,
  type Connection,
  Copy,
  type Edit,
  LiveTable,
  type Records,
  type RecordType,
  type Store,
  Syncer,
  type SyncState,
} from "contacts-client";
import { type Language, preferredLanguage, setLanguage } from "../i18n/index.ts";
import { byName, type PersonRow, toPersonRow } from "./people.ts";

export type Settings = Records["settings"];

const DEFAULT_SETTINGS = {
  nameOrder: "WESTERN",
  nameDisplayFormat: "FULL",
  dateFormat: "YMD",
  timezone: null,
  defaultReminderLeadDays: 0,
  name: "",
} as unknown as Settings;

// What the list of the service may leave out.
const NO_LISTS = { phoneNumbers: [], emails: [], addresses: [], urls: [], imHandles: [], locations: [], customFields: [], customFieldValues: [], more: [] };

// An answer about what is shared, which waits to be sent (features/sharing/answers.ts).
export interface Answer {
  id: string;
  path: string;
  body: object;
  about: string[]; // the ids of what it answers, which is not shown any more
  text: string; // in words
  heldUntil?: number; // so that it can be undone
}

export const ANSWERS = "answer "; // what their keys begin with, in the facts of the store

// A table of whole records, for types of which an account has few.
export class Table<T extends RecordType> {
  readonly byId = signal<ReadonlyMap<string, Records[T]>>(new Map());
  readonly #live: LiveTable<T, Records[T]>;

  constructor(copy: Copy, type: T) {
    this.#live = new LiveTable(copy, type, (record) => record, () => (this.byId.value = new Map(this.#live.rows)));
  }

  open(): Promise<void> {
    return this.#live.open();
  }

  close(): void {
    this.#live.close();
  }

  get all(): Records[T][] {
    return [...this.byId.value.values()];
  }
}

export class Account {
  readonly id: string;
  readonly storeName: string;
  readonly copy: Copy;
  readonly syncer: Syncer;
  readonly connection: Connection;
  readonly sync = signal<SyncState>({ phase: "idle", progress: null, error: null, syncedAt: null });
  readonly pending = signal<Edit[]>([]);
  readonly held = signal<Edit[]>([]); // what is not to be sent yet, so that it can be taken back
  readonly refused = signal<Edit[]>([]);
  readonly conflicts = signal<Conflict[]>([]);
  readonly answers = signal<Answer[]>([]);
  readonly groups: Table<"group">;
  readonly templates: Table<"customFieldTemplate">;
  readonly relationshipTypes: Table<"relationshipType">;
  readonly shares: Table<"share">;
  readonly settings: ReadonlySignal<Settings>;
  // Rises with each change of a row of people.
  readonly peopleVersion = signal(0);
  // Rows by id, in the order of their names, with all names as the account's settings show them.
  readonly people: ReadonlySignal<PersonRow[]>;
  readonly #settings: Table<"settings">;
  readonly #people: LiveTable<"person", PersonRow>;
  // Whether the copy of a new device has no people yet. Until then lists show the first people of the service, who cannot be
  // changed here.
  readonly isFilling = signal(false);
  readonly #firstPage = signal<PersonRow[]>([]);
  onClose: () => void = () => undefined;
  readonly store: Store & { close(): void };
  #isOpen = true;
  #heldTimer: ReturnType<typeof setTimeout> | undefined; // when the next edit that can be undone is sent
  #stopLanguage = () => undefined as unknown;

  constructor(id: string, storeName: string, store: Store & { close(): void }, connection: Connection) {
    this.id = id;
    this.storeName = storeName;
    this.connection = connection;
    this.store = store;
    this.copy = new Copy(store, connection);
    this.syncer = new Syncer(this.copy, connection, storeName, (state) => {
      this.sync.value = state;
      if (state.phase === "idle" && state.syncedAt) this.isFilling.value = false;
    });
    this.groups = new Table(this.copy, "group");
    this.templates = new Table(this.copy, "customFieldTemplate");
    this.relationshipTypes = new Table(this.copy, "relationshipType");
    this.shares = new Table(this.copy, "share");
    this.#settings = new Table(this.copy, "settings");
    this.settings = computed(() => this.#settings.byId.value.get(id) ?? [...this.#settings.byId.value.values()][0] ?? DEFAULT_SETTINGS);
    this.#people = new LiveTable(this.copy, "person", toPersonRow, () => {
      if (this.#people.rows.size) this.isFilling.value = false;
      this.peopleVersion.value++;
    });
    this.people = computed(() => {
      this.peopleVersion.value;
      return byName(this.isFilling.value ? this.#firstPage.value : [...this.#people.rows.values()], this.settings.value);
    });
  }

  // The person that the user is.
  get meId(): string | null {
    return this.settings.value.mePersonId ?? null;
  }

  // Reads what lists need, and begins to sync.
  async open(): Promise<void> {
    await Promise.all([this.#settings, this.groups, this.templates, this.relationshipTypes, this.shares].map((table) => table.open()));
    // A new device has no settings before the first sync: until then the language of the browser stays.
    const language = computed(() => this.settings.value.language as Language | undefined);
    await setLanguage(language.value ?? preferredLanguage());
    this.#stopLanguage = effect(() => void (language.value && setLanguage(language.value)));
    await this.#people.open();
    if (this.#people.rows.size === 0) void this.#readFirstPage().catch(() => undefined); // offline: the copy stays empty
    await Promise.all([this.#readEdits(), this.readAnswers()]);
    this.copy.subscribe(() => void this.#readEdits());
    this.syncer.start();
  }

  close(): void {
    this.#isOpen = false;
    clearTimeout(this.#heldTimer);
    this.#stopLanguage();
    this.onClose();
    this.syncer.stop();
    for (const table of [this.#settings, this.groups, this.templates, this.relationshipTypes, this.shares, this.#people]) table.close();
    this.store.close();
  }

  async #readFirstPage(): Promise<void> {
    const { data } = await this.connection.api.GET("/api/people", { params: { query: { limit: 100 } } });
    const people = (data?.people ?? []).map((person) => toPersonRow({ ...NO_LISTS, ...person } as Records["person"]));
    if (this.#people.rows.size === 0 && this.sync.value.phase === "syncing") {
      this.#firstPage.value = people;
      this.isFilling.value = true;
    }
  }

  person(id: string): PersonRow | undefined {
    this.people.value; // computes the names, and subscribes the view
    return this.#people.rows.get(id);
  }

  async readAnswers(): Promise<void> {
    const rows = this.#isOpen ? await this.store.all("facts", { prefix: ANSWERS }) : [];
    if (rows.length || this.answers.peek().length) this.answers.value = rows.map((row) => JSON.parse(String(row)) as Answer);
  }

  async #readEdits(): Promise<void> {
    if (!this.#isOpen) return;
    const [pending, refused, conflicts] = await Promise.all([this.copy.pending(), this.copy.refused(), this.copy.conflicts()]);
    const now = Date.now();
    const held = pending.filter(({ heldUntil }) => (heldUntil ?? 0) > now);
    const due = held.length ? pending.filter((edit) => !held.includes(edit)) : pending;
    clearTimeout(this.#heldTimer);
    if (held.length) this.#heldTimer = setTimeout(() => void this.#readEdits(), Math.min(...held.map(({ heldUntil }) => heldUntil!)) - now + 1);
    if (held.length || this.held.value.length) this.held.value = held;
    if (due.length || this.pending.value.length) this.pending.value = due;
    if (refused.length || this.refused.value.length) this.refused.value = refused;
    if (conflicts.length || this.conflicts.value.length) this.conflicts.value = conflicts;
  }
}

