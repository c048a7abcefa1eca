// The fields of which a merged person has one value, and which value it has if nobody chooses: as the service merges
// (people/field_table.py), so that what is shown is what is done.
import type { components } from "contacts-client";
import { formatDay } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import type { Account } from "../../store/account.ts";
import { intervalLabel } from "../people/intervals.ts";
import type { Person } from "../person/entries.ts";
import { DETAIL_FIELDS, NAME_FIELDS } from "../person/fields.ts";

export type Choice = "primary" | "secondary" | "both";
type Overrides = NonNullable<components["schemas"]["MergeRequest"]["fieldOverrides"]>;

export interface MergeField {
  name: string;
  label: string; // a text of t()
  columns: (keyof Person & keyof Overrides)[]; // what the choice decides
  isEmpty: (person: Person) => boolean;
}

const REMINDER = ["contactReminderEnabled", "contactReminderInterval", "contactReminderIntervalUnit"] as const;

const isNull = (name: keyof Person) => (person: Person) => person[name] === null || person[name] === "";
const never = () => false;

const FIELDS: MergeField[] = [
  ...[...NAME_FIELDS, ...DETAIL_FIELDS].map(({ name, label }) => ({
    name: name as string,
    label,
    columns: [name as keyof Person & keyof Overrides],
    isEmpty: isNull(name),
  })),
  { name: "relationshipToUserId", label: "Relationship to you", columns: ["relationshipToUserId"], isEmpty: isNull("relationshipToUserId") },
  { name: "notes", label: "Notes", columns: ["notes"], isEmpty: isNull("notes") },
  { name: "contactReminder", label: "Reminder to get in touch", columns: [...REMINDER], isEmpty: (person) => !person.contactReminderEnabled },
  { name: "favourite", label: "Favourite", columns: ["favourite"], isEmpty: never },
  { name: "quiet", label: "Quiet", columns: ["quiet"], isEmpty: never },
];

function valueOf(person: Person, { columns }: MergeField): string {
  return JSON.stringify(columns.map((column) => person[column]));
}

// The fields whose values differ.
export function differingFields(primary: Person, secondary: Person): MergeField[] {
  return FIELDS.filter((field) => valueOf(primary, field) !== valueOf(secondary, field) && !(field.isEmpty(primary) && field.isEmpty(secondary)));
}

// What the service does without being told.
export function defaultChoice(field: MergeField, primary: Person): Choice {
  if (field.name === "favourite") return primary.favourite ? "primary" : "secondary";
  if (field.name === "quiet") return primary.quiet ? "secondary" : "primary";
  return field.isEmpty(primary) ? "secondary" : "primary";
}

export function bothNotes(primary: Person, secondary: Person): string {
  return `${primary.notes}\n\n${secondary.notes}`;
}

// What the service must be told: the choices that it would not have made.
export function overridesOf(primary: Person, secondary: Person, choices: Record<string, Choice>): Overrides {
  const overrides: Record<string, unknown> = {};
  for (const field of differingFields(primary, secondary)) {
    const choice = choices[field.name];
    if (!choice || choice === defaultChoice(field, primary)) continue;
    const from = choice === "secondary" ? secondary : primary;
    for (const column of field.columns) overrides[column] = choice === "both" ? bothNotes(primary, secondary) : from[column];
  }
  return overrides as Overrides;
}

export function valueInWords(account: Account, person: Person, field: MergeField): string {
  if (field.isEmpty(person)) return t("nothing|an empty value");
  if (field.name === "contactReminder") return intervalLabel(person.contactReminderInterval ?? 1, person.contactReminderIntervalUnit ?? "MONTHS");
  const value = person[field.columns[0]!];
  if (typeof value === "boolean") return value ? t("Yes") : t("No");
  if (field.name === "relationshipToUserId") return account.relationshipTypes.byId.value.get(String(value))?.label ?? "…";
  if (field.name === "lastContact" || field.name === "deathday") return formatDay(String(value), account.settings.value.dateFormat);
  return String(value);
}
