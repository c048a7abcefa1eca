// Edits, fields and values of the copy in words.
import type { Edit } from "contacts-client";
import { t } from "../../i18n/index.ts";
import type { Account } from "../../store/account.ts";

export function nameOfRecord(account: Account, type: string, id: string, known: unknown): string {
  if (type === "person") return account.person(id)?.name || String((known as { name?: string } | null)?.name ?? t("A person"));
  const record = known as { name?: string; title?: string; label?: string; personId?: string } | null;
  const own = record?.name ?? record?.title ?? record?.label;
  const owner = record?.personId ? account.person(record.personId)?.name : undefined;
  const kind = kindOf(type);
  return [own ?? kind, owner].filter(Boolean).join(", ");
}

export function describeEdit(account: Account, edit: Edit): string {
  const name = nameOfRecord(account, edit.type, edit.id, { ...edit.base, ...edit.body });
  const kind = kindOf(edit.type);
  switch (edit.action) {
    case "create":
      return t("{kind} added: {name}", { kind, name });
    case "delete":
      return t("{kind} deleted: {name}", { kind, name });
    case "restore":
      return t("{kind} restored: {name}", { kind, name });
    case "update":
      return t("{kind} changed: {name} ({fields})", { kind, name, fields: Object.keys(edit.body).map(describeField).join(", ") });
  }
}

function kindOf(type: string): string {
  const names: Record<string, string> = {
    person: t("Person"),
    group: t("Group"),
    importantDate: t("Date"),
    interaction: t("Contact|logged"),
    relationship: t("Relationship"),
    relationshipType: t("Relationship type"),
    customFieldTemplate: t("Custom field"),
  };
  return names[type] ?? type;
}

export function describeField(field: string): string {
  const names: Record<string, string> = {
    name: t("Given name"),
    surname: t("Surname"),
    nickname: t("Nickname"),
    middleName: t("Middle name"),
    notes: t("Notes"),
    phoneNumbers: t("Phone"),
    emails: t("E-mail"),
    addresses: t("Address"),
    urls: t("Web"),
    imHandles: t("Messenger"),
    groupIds: t("Groups"),
    photo: t("Photo"),
    organization: t("Organization"),
    jobTitle: t("Profession or role"),
    title: t("Title"),
    date: t("Day"),
    at: t("When"),
    kind: t("Kind"),
    relationshipToUserId: t("Relationship to you"),
    contactReminderEnabled: t("Reminder"),
    customFieldValues: t("Custom fields"),
  };
  return names[field] ?? field;
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
