// Edits, fields and values of the copy in words.
import type { EditableType, Edit, NewRecords } from "contacts-client";
import { PERSON_FIELDS, type PersonFieldName } from "contacts-client/fields";
import { t } from "../../i18n/index.ts";
import type { Account } from "../../store/account.ts";
import { type ImportantDate, occasion } from "../person/dates.ts";

export function nameOfRecord(account: Account, type: string, id: string, known: unknown): string {
  if (type === "person") return account.person(id)?.name || String((known as { name?: string } | null)?.name ?? t("A person"));
  const record = known as { name?: string; title?: string; label?: string; personId?: string; type?: ImportantDate["type"] } | null;
  const own = record?.name ?? record?.title ?? record?.label ?? (type === "importantDate" && record?.type ? occasion({ type: record.type, title: null }) : undefined);
  const owner = record?.personId ? account.person(record.personId)?.name : undefined;
  const kind = kindOf(type);
  return [own ?? kind, owner].filter(Boolean).join(", ");
}

// `record` as it is, where it was read: an edit has no more than what it changes.
export function describeEdit(account: Account, edit: Edit, record?: object): string {
  const name = nameOfRecord(account, edit.type, edit.id, { ...record, ...edit.base, ...edit.body });
  const kind = kindOf(edit.type);
  switch (edit.action) {
    case "create":
      return t("{kind} added: {name}", { kind, name });
    case "delete":
      return t("{kind} deleted: {name}", { kind, name });
    case "restore":
      return t("{kind} restored: {name}", { kind, name });
    case "accept":
      return t("Logged: {what}", { what: name });
    case "dismiss":
      return t("Not logged: {what}", { what: name });
    case "update":
      return t("{kind} changed: {name} ({fields})", { kind, name, fields: describeFields(edit.type, Object.keys(edit.body)) });
  }
}

function kindOf(type: string): string {
  const names: Record<string, string> = {
    person: t("Person"),
    group: t("Group"),
    importantDate: t("Date"),
    interaction: t("Contact|logged"),
    meetingProposal: t("Meeting"),
    relationship: t("Relationship"),
    relationshipType: t("Relationship type"),
    customFieldTemplate: t("Custom field"),
  };
  return names[type] ?? type;
}

// What the fields of each type are called. The compiler finds a field that has no text here: those of a person are in the
// generated table, those of the others in the types of the API.
type Words<T extends EditableType> = Record<(T extends "person" ? PersonFieldName : never) | Exclude<keyof NewRecords[T], "id">, string>;

const WORDS: { [T in EditableType]: () => Words<T> } = {
  person: () => ({
    name: t("Given name"),
    surname: t("Surname"),
    middleName: t("Middle name"),
    secondLastName: t("Second surname"),
    nickname: t("Nickname"),
    phoneticName: t("Given name as spoken"),
    phoneticSurname: t("Surname as spoken"),
    prefix: t("Title before the name"),
    suffix: t("Title after the name"),
    displayName: t("Name"),
    displayNameOverride: t("Show this name instead"),
    organization: t("Organization"),
    jobTitle: t("Profession or role"),
    gender: t("Gender"),
    anniversary: t("Anniversary"),
    deathday: t("Died on"),
    lastContact: t("Last contact"),
    notes: t("Notes"),
    relationshipToUserId: t("Relationship to you"),
    relationshipToUser: t("Relationship to you"),
    groupIds: t("Groups"),
    groups: t("Groups"),
    contactReminderEnabled: t("Reminder"),
    contactReminderInterval: t("Interval of the reminder"),
    contactReminderIntervalUnit: t("Unit of the interval"),
    contactReminderFrom: t("Rule of the group"),
    cardDavSyncEnabled: t("Sync"),
    favourite: t("Favourite"),
    quiet: t("Quiet"),
    photo: t("Photo"),
    uid: t("Identifier"),
    phoneNumbers: t("Phone"),
    emails: t("E-mail"),
    addresses: t("Address"),
    urls: t("Web"),
    imHandles: t("Messenger"),
    locations: t("Locations"),
    customFields: t("Further details"),
    more: t("Other lines of the card"),
    importantDates: t("Dates"),
    customFieldValues: t("Custom fields"),
    connectedThroughId: t("Relationship"),
  }),
  importantDate: () => ({
    personId: t("Person"),
    type: t("Kind"),
    title: t("Title"),
    date: t("Day"),
    yearUnknown: t("Year unknown"),
    reminderEnabled: t("Reminder"),
    reminderType: t("Whether the reminder repeats"),
    reminderInterval: t("Interval of the reminder"),
    reminderIntervalUnit: t("Unit of the interval"),
    reminderLeadDays: t("How long before"),
    extraLeadDays: t("Further days before"),
  }),
  interaction: () => ({ personIds: t("People"), kind: t("Kind"), at: t("When"), title: t("Title"), notes: t("Notes") }),
  group: () => ({
    name: t("Name"),
    description: t("Description"),
    color: t("Colour"),
    peopleIds: t("People"),
    contactReminder: t("Rule of the group"),
    leadDays: t("Days of advance notice of their dates"),
  }),
  relationship: () => ({
    personId: t("Person"),
    relatedPersonId: t("The other person"),
    relationshipTypeId: t("Relationship type"),
    notes: t("Notes"),
    since: t("Since"),
    until: t("Until"),
  }),
  relationshipType: () => ({
    name: t("Identifier"),
    label: t("Name"),
    color: t("Colour"),
    inverseId: t("What the other is"),
    inverseLabel: t("Name of the other type"),
    symmetric: t("The same from both sides, as friends are"),
  }),
  customFieldTemplate: () => ({ name: t("Name"), type: t("What it holds"), options: t("Options"), order: t("Position") }),
};

function wordsOf(type: string): Record<string, string> {
  return WORDS[type as EditableType]?.() ?? {};
}

// The name of a field as it is shown. One that a newer service has is shown as the API calls it.
export function describeField(type: string, field: string): string {
  return wordsOf(type)[field] ?? field;
}

// Fields in the order in which they are shown, each once.
function describeFields(type: string, fields: string[]): string {
  const order: string[] = type === "person" ? PERSON_FIELDS.map(({ name }) => name) : Object.keys(wordsOf(type));
  const known = order.filter((field) => fields.includes(field));
  return [...known, ...fields.filter((field) => !known.includes(field))].map((field) => describeField(type, field)).join(", ");
}

export function describeValue(value: unknown): string {
  if (value === null || value === undefined || value === "") return t("nothing|an empty value");
  if (Array.isArray(value)) return value.map(describeValue).join("; ") || t("nothing|an empty value");
  if (typeof value === "boolean") return value ? t("Yes") : t("No");
  if (typeof value === "object") {
    const texts = Object.entries(value).filter(([name, part]) => !["id", "type", "geocodeStatus", "latitude", "longitude"].includes(name) && part);
    return texts.map(([, part]) => String(part)).join(", ");
  }
  return String(value);
}
