// Which people are selected, for what is done with many at once.
import { signal } from "@preact/signals";
import { tn } from "../../i18n/index.ts";
import type { PersonRow } from "../../store/people.ts";
import { announce } from "../../ui/announce.ts";

export class Selection {
  readonly ids = signal<ReadonlySet<string>>(new Set());
  readonly wantsGroup = signal(false); // a group is asked for as soon as the bar is there
  readonly isOn = signal(false); // rows have a check, even while none is selected
  #last: string | null = null;

  toggle(id: string): void {
    const ids = new Set(this.ids.peek());
    if (!ids.delete(id)) ids.add(id);
    this.#set(ids);
    this.#last = id;
  }

  // Selects all rows between the last one that was selected, or without any `from`, and this one.
  extendTo(id: string, rows: readonly PersonRow[], from = id): void {
    const at = rows.findIndex((row) => row.id === id);
    const last = rows.findIndex((row) => row.id === this.#last);
    const start = last >= 0 ? last : rows.findIndex((row) => row.id === from);
    const ids = new Set(this.ids.peek());
    for (const row of rows.slice(Math.min(at, start), Math.max(at, start) + 1)) ids.add(row.id);
    this.#set(ids);
    this.#last = id;
  }

  selectAll(rows: readonly PersonRow[]): void {
    this.#set(new Set(rows.map(({ id }) => id)));
  }

  clear(): void {
    this.isOn.value = false;
    this.#last = null;
    if (this.ids.peek().size) this.#set(new Set());
  }

  // People who were deleted elsewhere are no longer selected.
  keepOnly(rows: readonly PersonRow[]): void {
    if (this.ids.peek().size === 0) return;
    const known = new Set(rows.map(({ id }) => id));
    const kept = [...this.ids.peek()].filter((id) => known.has(id));
    if (kept.length < this.ids.peek().size) this.#set(new Set(kept));
  }

  #set(ids: ReadonlySet<string>): void {
    this.ids.value = ids;
    if (ids.size) this.isOn.value = true;
    announce(tn("{count} selected", "{count} selected", ids.size));
  }
}
