// Selecting people, and what can be done with many at once. Every action works offline: it is an edit of each person.
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { useAccount } from "../../app/session.ts";
import { t, tn } from "../../i18n/index.ts";
import type { PersonRow } from "../../store/people.ts";
import { announce } from "../../ui/announce.ts";
import { Dialog } from "../../ui/Dialog.tsx";
import { SelectField } from "../../ui/Field.tsx";
import { Menu } from "../../ui/Menu.tsx";
import { navigate } from "../../app/router.ts";
import { occasion } from "../person/dates.ts";
import { addToGroup, deletePeople, removeFromGroup, setContactReminder, setDateReminders, setField, setRelationship } from "./actions.ts";
import { intervals } from "./intervals.ts";

export class Selection {
  readonly ids = signal<ReadonlySet<string>>(new Set());
  #last: string | null = null;

  toggle(id: string): void {
    const ids = new Set(this.ids.peek());
    if (!ids.delete(id)) ids.add(id);
    this.#set(ids);
    this.#last = id;
  }

  // Selects all rows between the last one that was selected and this one.
  extendTo(id: string, rows: readonly PersonRow[]): void {
    const at = rows.findIndex((row) => row.id === id);
    const from = Math.max(0, rows.findIndex((row) => row.id === this.#last));
    const ids = new Set(this.ids.peek());
    for (const row of rows.slice(Math.min(at, from), Math.max(at, from) + 1)) ids.add(row.id);
    this.#set(ids);
    this.#last = id;
  }

  selectAll(rows: readonly PersonRow[]): void {
    this.#set(new Set(rows.map(({ id }) => id)));
  }

  clear(): void {
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
    announce(tn("{count} selected", "{count} selected", ids.size));
  }
}

export function SelectionBar({ selection, shown }: { selection: Selection; shown: readonly PersonRow[] }) {
  const account = useAccount();
  const [asks, setAsks] = useState<"dates" | "group" | "leave" | "relationship" | "reminder" | null>(null);
  const ids = [...selection.ids.value];
  if (ids.length === 0) return null;
  return (
    <div class="banner selection-bar no-print" role="group" aria-label={t("With those selected")}>
      <strong>{tn("{count} selected", "{count} selected", ids.length)}</strong>
      <div class="row">
        <button onClick={() => setAsks("group")}>{t("Add to a group")}</button>
        <button onClick={() => setAsks("relationship")}>{t("Set the relationship")}</button>
        <Menu
          label={t("More with those selected")}
          class="button"
          items={[
            { label: t("Take out of a group"), onSelect: () => setAsks("leave") },
            { label: t("Remind me to get in touch"), onSelect: () => setAsks("reminder") },
            { label: t("Reminders of their dates"), onSelect: () => setAsks("dates") },
            { label: t("Make favourites"), onSelect: () => void setField(account, ids, "favourite", true) },
            { label: t("No longer favourites"), onSelect: () => void setField(account, ids, "favourite", false) },
            { label: t("Make quiet"), onSelect: () => void setField(account, ids, "quiet", true) },
            { label: t("No longer quiet"), onSelect: () => void setField(account, ids, "quiet", false) },
            { label: t("Log a contact"), onSelect: () => navigate(`/log?${ids.slice(0, 50).map((id) => `person=${id}`).join("&")}`) },
          ]}
        >
          {t("More")}
        </Menu>
        <button
          class="danger"
          onClick={() => {
            void deletePeople(account, ids);
            selection.clear();
          }}
        >
          {t("Delete")}
        </button>
        {ids.length < shown.length && (
          <button class="plain" onClick={() => selection.selectAll(shown)}>
            {t("Select all")}
          </button>
        )}
        <button class="plain" onClick={() => selection.clear()}>
          {t("End the selection")}
        </button>
      </div>
      {asks === "group" && (
        <Choice
          title={t("Add to a group")}
          label={t("Group")}
          options={account.groups.all.map(({ id, name }) => [id, name] as const)}
          onChoose={(id) => void addToGroup(account, ids, id)}
          onClose={() => setAsks(null)}
        />
      )}
      {asks === "leave" && (
        <Choice
          title={t("Take out of a group")}
          label={t("Group")}
          options={account.groups.all.map(({ id, name }) => [id, name] as const)}
          onChoose={(id) => void removeFromGroup(account, ids, id)}
          onClose={() => setAsks(null)}
        />
      )}
      {asks === "reminder" && (
        <Choice title={t("Remind me to get in touch")} label={t("Remind me")} options={intervals()} onChoose={(every) => void setContactReminder(account, ids, every === "never" ? "" : every)} onClose={() => setAsks(null)} />
      )}
      {asks === "dates" && (
        <Choice
          title={t("Reminders of their dates")}
          label={t("Remind me")}
          options={["BIRTHDAY", "ANNIVERSARY", "NAMEDAY", "MEMORIAL"].flatMap((type) => {
            const name = occasion({ type: type as "BIRTHDAY", title: null });
            return [[`${type} on`, t("{occasion}: remind me", { occasion: name })] as const, [`${type} off`, t("{occasion}: no reminder", { occasion: name })] as const];
          })}
          onChoose={(chosen) => {
            const [type, state] = chosen.split(" ");
            void setDateReminders(account, ids, type!, state === "on");
          }}
          onClose={() => setAsks(null)}
        />
      )}
      {asks === "relationship" && (
        <Choice
          title={t("Set the relationship")}
          label={t("They are to you")}
          options={account.relationshipTypes.all.map(({ id, label }) => [id, label] as const)}
          onChoose={(id) => void setRelationship(account, ids, id)}
          onClose={() => setAsks(null)}
        />
      )}
    </div>
  );
}

interface ChoiceProps {
  title: string;
  label: string;
  options: readonly (readonly [string, string])[];
  onChoose: (id: string) => void;
  onClose: () => void;
}

function Choice({ title, label, options, onChoose, onClose }: ChoiceProps) {
  const [chosen, setChosen] = useState(options[0]?.[0] ?? "");
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={() => {
        if (chosen) onChoose(chosen);
        onClose();
      }}
      footer={
        <>
          <button type="button" onClick={onClose}>
            {t("Cancel")}
          </button>
          <button class="main" disabled={!chosen}>
            {t("Save")}
          </button>
        </>
      }
    >
      {options.length ? <SelectField label={label} value={chosen} options={options} onValue={setChosen} /> : <p>{t("There is none yet.")}</p>}
    </Dialog>
  );
}
