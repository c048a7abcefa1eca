// The fields of which a merged person has one value, and which value it has if nobody chooses: as the service merges
// (people/field_table.py), so that what is shown is what is done.
import type { components } from "contacts-client";
import { t } from "../../i18n/index.ts";
import type { Account } from "../../store/account.ts";
import { intervalLabel } from "../people/intervals.ts";
import { dateInWords } from "../person/dates.ts";
import type { Person } from "../person/entries.ts";
import { DETAIL_FIELDS, labelOf, NAME_FIELDS } from "../person/fields.ts";

export type Choice = "first" | "second" | "both";
export const PHOTO = "photo"; // its choice
type Overrides = NonNullable<components["schemas"]["MergeRequest"]["fieldOverrides"]>;

export interface MergeField {
  name: string;
  label: () => string;
  columns: (keyof Person & keyof Overrides)[]; // what the choice decides
  isEmpty: (person: Person) => boolean;
}

const REMINDER = ["contactReminderEnabled", "contactReminderInterval", "contactReminderIntervalUnit"] as const;

const isNull = (name: keyof Person) => (person: Person) => person[name] === null || person[name] === "";
const never = () => false;

const FIELDS: MergeField[] = [
  ...[...NAME_FIELDS, ...DETAIL_FIELDS].map((field) => ({
    name: field.name as string,
    label: () => labelOf(field),
    columns: [field.name as keyof Person & keyof Overrides],
    isEmpty: isNull(field.name),
  })),
  { name: "relationshipToUserId", label: () => t("Relationship to you"), columns: ["relationshipToUserId"], isEmpty: isNull("relationshipToUserId") },
  { name: "notes", label: () => t("Notes"), columns: ["notes"], isEmpty: isNull("notes") },
  { name: "contactReminder", label: () => t("Reminder to get in touch"), columns: [...REMINDER], isEmpty: (person) => !person.contactReminderEnabled },
  { name: "favourite", label: () => t("Favourite"), columns: ["favourite"], isEmpty: never },
  { name: "quiet", label: () => t("Quiet"), columns: ["quiet"], isEmpty: never },
];

function valueOf(person: Person, { columns }: MergeField): string {
  return JSON.stringify(columns.map((column) => person[column]));
}

// The fields that both have, with other values.
export function differingFields(one: Person, other: Person): MergeField[] {
  return FIELDS.filter((field) => valueOf(one, field) !== valueOf(other, field) && !field.isEmpty(one) && !field.isEmpty(other));
}

// The fields that one of the two has: it stays.
export function oneSidedFields(one: Person, other: Person): MergeField[] {
  return FIELDS.filter((field) => field.isEmpty(one) !== field.isEmpty(other));
}

// What the service does without being told, if the second goes into the first.
export function defaultChoice(field: MergeField, first: Person): Choice {
  if (field.name === "favourite") return first.favourite ? "first" : "second";
  if (field.name === "quiet") return first.quiet ? "second" : "first";
  return "first";
}

// What the service must be told: who goes into whom, which decides on the picture, and the choices that it would not have made.
export function mergeOf(one: Person, other: Person, choices: Record<string, Choice>): { primary: Person; secondary: Person; overrides: Overrides } {
  const isSwapped = choices[PHOTO] === "second";
  const [primary, secondary] = isSwapped ? [other, one] : [one, other];
  const overrides: Record<string, unknown> = {};
  for (const field of differingFields(one, other)) {
    const choice = choices[field.name] ?? defaultChoice(field, one);
    const unasked = (defaultChoice(field, primary) === "first") === isSwapped ? "second" : "first";
    if (choice === unasked) continue;
    const from = choice === "second" ? other : one;
    for (const column of field.columns) overrides[column] = choice === "both" ? `${one.notes}\n\n${other.notes}` : from[column];
  }
  return { primary, secondary, overrides: overrides as Overrides };
}

export function valueInWords(account: Account, person: Person, field: MergeField): string {
  if (field.isEmpty(person)) return t("nothing|an empty value");
  if (field.name === "contactReminder") return intervalLabel(person.contactReminderInterval ?? 1, person.contactReminderIntervalUnit ?? "MONTHS");
  const value = person[field.columns[0]!];
  if (typeof value === "boolean") return value ? t("Yes") : t("No");
  if (field.name === "relationshipToUserId") return account.relationshipTypes.byId.value.get(String(value))?.label ?? "…";
  if (field.name === "lastContact" || field.name === "deathday" || field.name === "anniversary") return dateInWords({ date: String(value), yearUnknown: false });
  return String(value);
}
