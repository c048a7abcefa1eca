// The plain fields of a person, in the sections of the page and of its forms: those of the table of fields which the API
// description has. A new field is in a form by itself.
import { PERSON_FIELDS, type PersonField, type PersonFieldName } from "contacts-client/fields";
import { describeField } from "../sync/describe.ts";
import type { Person } from "./entries.ts";

// What has a form or a switch of its own.
const ELSEWHERE: ReadonlySet<PersonFieldName> = new Set<PersonFieldName>([
  "notes",
  "relationshipToUserId",
  "contactReminderEnabled",
  "contactReminderInterval",
  "contactReminderIntervalUnit",
  "cardDavSyncEnabled",
  "favourite",
  "quiet",
]);
const KINDS: ReadonlySet<PersonField["kind"]> = new Set<PersonField["kind"]>(["text", "date", "flag", "integer"]);

export type PlainField = PersonField & { name: keyof Person };

const PLAIN_FIELDS = PERSON_FIELDS.filter(({ kind, name, readOnly }) => !readOnly && KINDS.has(kind) && !ELSEWHERE.has(name)) as PlainField[];
export const NAME_FIELDS: readonly PlainField[] = PLAIN_FIELDS.filter(({ group }) => group === "name");
export const DETAIL_FIELDS: readonly PlainField[] = PLAIN_FIELDS.filter(({ group }) => group !== "name");

export function labelOf({ name }: Pick<PersonField, "name">): string {
  return describeField("person", name);
}

export type PlainValues = Record<string, string | boolean>;

export function pickPlain(fields: readonly PlainField[], person: Person): PlainValues {
  return Object.fromEntries(fields.map(({ name, kind }) => [name, kind === "flag" ? Boolean(person[name]) : String(person[name] ?? "")]));
}

// What is sent of a value of the form: nothing for an empty text.
export function toSent({ kind }: PlainField, value: string | boolean): string | number | boolean | null {
  if (typeof value === "boolean") return value;
  if (value.trim() === "") return null;
  return kind === "integer" ? Number(value) : value.trim();
}
