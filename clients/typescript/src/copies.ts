// What a browser keeps of accounts: a store for each. It tells which of them have unsent edits, and removes them.
import { IndexedDbStore } from "./indexedDbStore.ts";
import type { Conflict, Edit } from "./store.ts";

// Facts of a store of which only the unsent edits are left: its owner's name, and that it is one.
const NAME = "name";
const STRIPPED = "stripped";

// What was not sent of an account's copy. `isStripped`: nothing else is left of the copy.
export interface Unsent {
  accountId: string;
  name: string;
  edits: Edit[];
  conflicts: Conflict[];
  isStripped: boolean;
}

export class Copies {
  readonly #prefix: string;

  // `prefix`: how the names of the stores begin; the id of the account follows.
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  storeName(accountId: string): string {
    return this.#prefix + accountId;
  }

  // Opens the account's store, which belongs to it alone. `onClosed`: as of IndexedDbStore.open.
  async open(accountId: string, onClosed?: () => void): Promise<IndexedDbStore> {
    this.#setListed([...new Set([...this.#listed(), accountId])]);
    const store = await IndexedDbStore.open(this.storeName(accountId), onClosed);
    if (await store.get("facts", STRIPPED)) await store.write([{ table: "facts", key: STRIPPED }]);
    return store;
  }

  // The accounts that have a store here.
  async accountIds(): Promise<string[]> {
    const names = await IndexedDbStore.names(this.#prefix);
    // Some browsers do not tell: so there is a list as well.
    return [...new Set([...names.map((name) => name.slice(this.#prefix.length)), ...this.#listed()])];
  }

  // What was not sent, of each account that has something; of those whose store is gone there is nothing.
  async unsent(): Promise<Unsent[]> {
    const found: Unsent[] = [];
    for (const accountId of await this.accountIds()) {
      const store = await IndexedDbStore.open(this.storeName(accountId));
      try {
        const unsent = await readUnsent(store, accountId);
        if (unsent.edits.length || unsent.conflicts.length) found.push(unsent);
      } finally {
        store.close();
      }
    }
    return found;
  }

  // Removes all but the unsent edits, for an account whose copy may not stay: they can be saved as a file, or are sent after
  // its owner has signed in again. Without such edits nothing is left.
  async strip(accountId: string): Promise<void> {
    const store = await IndexedDbStore.open(this.storeName(accountId));
    const { edits, conflicts, name } = await readUnsent(store, accountId);
    const hasUnsent = edits.length + conflicts.length > 0;
    if (hasUnsent) await store.strip({ account: accountId, [NAME]: name, [STRIPPED]: 1 });
    store.close();
    if (!hasUnsent) await this.remove(accountId);
  }

  async remove(accountId: string): Promise<void> {
    await IndexedDbStore.remove(this.storeName(accountId));
    this.#setListed(this.#listed().filter((each) => each !== accountId));
  }

  async removeAll(): Promise<void> {
    for (const accountId of await this.accountIds()) await this.remove(accountId);
  }

  get #listKey(): string {
    return `list of ${this.#prefix}`;
  }

  #listed(): string[] {
    return (localStorage.getItem(this.#listKey) ?? "").split(" ").filter(Boolean);
  }

  #setListed(accountIds: string[]): void {
    if (accountIds.length) localStorage.setItem(this.#listKey, accountIds.join(" "));
    else localStorage.removeItem(this.#listKey);
  }
}

// The unsent edits as a file of JSON: each with the record and the fields that it changes, and what they were before.
export function unsentFile({ accountId, name, edits, conflicts }: Unsent): Blob {
  const content = { format: "contact-network unsent", version: 1, savedAt: new Date(), account: { id: accountId, name }, edits, conflicts };
  return new Blob([JSON.stringify(content, null, 2)], { type: "application/json" });
}

async function readUnsent(store: IndexedDbStore, accountId: string): Promise<Unsent> {
  const [edits, conflicts, settings, name, isStripped] = await Promise.all([
    store.all("edits"),
    store.all("conflicts"),
    store.all("records", { prefix: "settings/" }),
    store.get("facts", NAME),
    store.get("facts", STRIPPED),
  ]);
  const known = settings[0]?.record as { name?: string | null; email?: string } | undefined;
  return { accountId, name: known?.name || known?.email || String(name ?? ""), edits, conflicts, isStripped: Boolean(isStripped) };
}
