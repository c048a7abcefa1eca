// What is not in memory and is searched as well: logged contacts, and texts of people beyond their first characters. Logged
// contacts are read once while the box is open; long texts are read in steps, so that none of them stays in memory.
import { LiveTable, type Records } from "contacts-client";
import type { Account } from "../../store/account.ts";
import { fold } from "../../store/fold.ts";
import type { PersonRow } from "../../store/people.ts";

const STEP = 100; // records
const MAX_FOUND = 8;

interface ContactRow {
  id: string;
  personIds: string[];
  at: string;
  text: string; // folded
}

// `contactId`: the logged contact that has the words; null: the person's own texts have them.
export interface TextHit {
  personId: string;
  contactId: string | null;
}

export class Texts {
  readonly #account: Account;
  readonly #contacts: LiveTable<"interaction", ContactRow>;
  #open: Promise<void> | undefined;
  #isRead = false;

  // `onChange` is called when logged contacts change after they were read.
  constructor(account: Account, onChange: () => void = () => undefined) {
    this.#account = account;
    this.#contacts = new LiveTable(account.copy, "interaction", toRow, () => this.#isRead && onChange());
  }

  close(): void {
    this.#contacts.close();
  }

  // Calls back with more and more people as they are found, until the signal ends it.
  async find(query: string, rows: readonly PersonRow[], signal: AbortSignal, onFound: (hits: TextHit[]) => void, max = MAX_FOUND): Promise<void> {
    const words = fold(query).split(" ").filter(Boolean);
    const hasWords = (text: string) => words.every((word) => text.includes(word));
    const found = new Map<string, TextHit>();
    this.#open ??= this.#contacts.open();
    await this.#open;
    this.#isRead = true;
    if (signal.aborted) return;
    const contacts = [...this.#contacts.rows.values()].filter(({ text }) => text && hasWords(text));
    contacts.sort((one, other) => (one.at < other.at ? 1 : -1)); // the latest first
    for (const { id, personIds } of contacts) for (const personId of personIds) if (!found.has(personId) && found.size < max) found.set(personId, { personId, contactId: id });
    onFound([...found.values()]);
    const long = rows.filter(({ isCut }) => isCut).map(({ id }) => id);
    for (let start = 0; start < long.length && found.size < max; start += STEP) {
      const people = await this.#account.copy.many("person", long.slice(start, start + STEP));
      if (signal.aborted) return;
      const before = found.size;
      for (const person of people.values()) {
        if (!found.has(person.id) && hasWords(fold(wholeText(person)))) found.set(person.id, { personId: person.id, contactId: null });
      }
      if (found.size > before) onFound([...found.values()].slice(0, max));
    }
  }
}

function toRow({ id, personIds, at, title, notes }: Records["interaction"]): ContactRow {
  return { id, personIds, at, text: fold([title, notes].filter(Boolean).join(" ")) };
}

function wholeText({ name, surname, notes, organization, jobTitle, customFields, customFieldValues }: Records["person"]): string {
  const fields = [...customFields.map(({ key, value }) => `${key} ${value}`), ...customFieldValues.map(({ value }) => String(value))];
  return [name, surname, organization, jobTitle, notes, ...fields].filter(Boolean).join(" ");
}
