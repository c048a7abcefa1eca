// What the account keeps together with others, as the copy has it: which group, with whom, and what stays with the user.
import type { Records } from "contacts-client";
import { formatList, t } from "../../i18n/index.ts";
import type { Account } from "../../store/account.ts";

export type Share = Records["share"];
export type ShareConflict = Records["shareConflict"];
export type Member = Share["members"][number];
export type PrivateField = Share["private"][number];
export type Reminders = Share["reminders"];

// What a member may keep for itself, in the order in which it is shown.
export const PRIVATE_FIELDS: { field: PrivateField; label: string }[] = [
  { field: "notes", label: "Notes" },
  { field: "phoneNumbers", label: "Phone" },
  { field: "emails", label: "E-mail" },
  { field: "addresses", label: "Address" },
  { field: "importantDates", label: "Dates" },
  { field: "relationships", label: "Relationships" },
  { field: "photo", label: "Photo" },
  { field: "customFields", label: "Further details" },
];
export const DEFAULT_PRIVATE: PrivateField[] = ["notes"];

export function reminderChoices(): [Reminders, string][] {
  return [
    ["none", t("No reminders of them")],
    ["birthdays", t("Of birthdays")],
    ["all", t("Of all days")],
  ];
}

export function othersOf({ members }: Share): Member[] {
  return members.filter(({ you }) => !you);
}

// "Ben and Clara"; null while nobody else is in.
export function namesOfOthers(share: Share): string | null {
  const names = othersOf(share).map(({ name }) => name);
  return names.length ? formatList(names) : null;
}

export function isHost({ members }: Share): boolean {
  return members.some(({ you, host }) => you && host);
}

export function shareOfGroup({ shares }: Account, groupId: string): Share | undefined {
  return shares.all.find((share) => share.groupId === groupId);
}

// Those whose group the person is in.
export function sharesOf({ shares }: Account, { groupIds }: { groupIds: string[] }): Share[] {
  return shares.all.filter(({ groupId }) => groupId !== null && groupIds.includes(groupId));
}

// What a lock at a field says: it stays with the user in all of the shares, or in some of them; null if it travels.
export function lockOf(shares: readonly Share[], field: PrivateField): string | null {
  const closed = shares.filter((share) => share.private.includes(field));
  if (closed.length === 0) return null;
  return closed.length === shares.length ? t("stays with you") : t("not in {shares}", { shares: formatList(closed.map(({ name }) => name)) });
}
