// Fields, values and entries of the log in words.
import { formatList, t, tn } from "../../i18n/index.ts";
import { dateInWords, type ImportantDate, occasion, partlyKnownDay } from "../person/dates.ts";
import { describeField, describeValue } from "../sync/describe.ts";

export interface LogEntry {
  id: string;
  at: string;
  by: string;
  action: "added" | "changed" | "taken_out" | "joined" | "left" | "removed" | "merged" | "undone";
  personId: string | null; // of the reader's own copy
  personName: string | null;
  fields: string[];
  undoable: boolean;
}

export function fieldInWords(field: string): string {
  return field === "relationships" ? t("Relationships") : describeField("person", field);
}

export function fieldsInWords(fields: readonly string[]): string {
  return formatList([...new Set(fields.map(fieldInWords))]);
}

type Entry = Record<string, string | boolean | null>;

// Of one side of a difference. A photo is the hash of a picture, which nobody can read.
export function valueInWords(field: string, value: unknown): string {
  if (field === "photo") return value ? t("A photo") : t("No photo");
  if (field === "importantDates" && Array.isArray(value) && value.length) {
    return (value as ImportantDate[]).map((date) => `${occasion(date)}: ${dateInWords(date)}`).join("\n");
  }
  if (field === "relationships" && Array.isArray(value) && value.length) return (value as Entry[]).map(relationInWords).join("\n");
  if (Array.isArray(value) && value.length) return value.map(describeValue).join("\n");
  return describeValue(value);
}

function relationInWords({ label, name, type, since }: Entry): string {
  return [label ?? type, name, since && t("since {when}", { when: partlyKnownDay(String(since)) })].filter(Boolean).join(" · ");
}

export function entryInWords({ action, by, personName, fields }: LogEntry): string {
  const name = personName ?? t("A person");
  switch (action) {
    case "added":
      return t("{by} added {name}", { by, name });
    case "changed":
      return t("{by} changed {name}: {fields}", { by, name, fields: fieldsInWords(fields) });
    case "taken_out":
      return t("{by} took {name} out", { by, name });
    case "joined":
      return t("{by} takes part now", { by });
    case "left":
      return t("{by} takes part no more. What was there stays with everyone", { by });
    case "removed":
      return t("{by} was taken out of those who take part", { by });
    case "merged":
      return t("{by} joined two into {name}", { by, name });
    case "undone":
      return t("{by} took a change of {name} back: {fields}", { by, name, fields: fieldsInWords(fields) });
  }
}

const MAX_NAMES = 3;

// Many whom one member has added one after the other are one line.
export function folded(entries: readonly LogEntry[]): LogEntry[] {
  const runs: LogEntry[][] = [];
  for (const entry of entries) {
    const run = runs.at(-1);
    if (entry.action === "added" && run?.[0]!.action === "added" && run[0]!.by === entry.by) run.push(entry);
    else runs.push([entry]);
  }
  return runs.flatMap((run) => (run.length > MAX_NAMES ? [{ ...run[0]!, personId: null, personName: namesOf(run) }] : run));
}

function namesOf(run: readonly LogEntry[]): string {
  const names = run.slice(0, MAX_NAMES).map(({ personName }) => personName ?? t("A person"));
  return formatList([...names, tn("{count} more", "{count} more", run.length - MAX_NAMES)]);
}

export const ICONS = { added: "add", changed: "edit", taken_out: "close", joined: "people", left: "back", removed: "people", merged: "copy", undone: "back" } as const;
