// What a device is, whom it gets and which values it replaced, in words.
import type { components } from "contacts-client";
import { formatList, t } from "../../i18n/index.ts";
import type { Account } from "../../store/account.ts";

type Book = components["schemas"]["Book"];

export const PROGRAMS = ["apple", "android", "thunderbird", "gnome", "other"] as const;
export type Program = (typeof PROGRAMS)[number];

export function programOptions(): [value: Program, label: string][] {
  return [
    ["apple", t("iPhone, iPad or Mac")],
    ["android", t("Android, with DAVx5")],
    ["thunderbird", "Thunderbird"],
    ["gnome", t("GNOME or Evolution")],
    ["other", t("Another program")],
  ];
}

// Parts of a User-Agent, and what sends them. The first that is found counts.
const AGENTS: [part: RegExp, name: string, program: Program][] = [
  [/^DAVx5/, "DAVx⁵, Android", "android"],
  [/^iOS\/|^iPhone|dataaccessd/, "iPhone, iPad", "apple"],
  [/mac\+?\s?OS|AddressBook|CalendarAgent/i, "Mac", "apple"],
  [/Thunderbird\//, "Thunderbird", "thunderbird"],
  [/^Evolution\//, "GNOME, Evolution", "gnome"],
  [/CalDavSynchronizer/i, "Outlook CalDav Synchronizer", "other"],
  [/^KDE/, "KDE", "other"],
];

// The program behind a User-Agent: its known name, else the first word of what it calls itself.
export function programName(agent: string): string {
  return AGENTS.find(([part]) => part.test(agent))?.[1] ?? (agent.split(" ")[0]!.replace("/", " ") || t("A device"));
}

export function programOf(agent: string): Program {
  return AGENTS.find(([part]) => part.test(agent))?.[2] ?? "other";
}

export function bookInWords(book: Book | null, { groups }: Account): string {
  if (!book) return t("Everybody");
  const names = book.groupIds?.map((id) => groups.byId.value.get(id)?.name ?? t("A group in the trash"));
  const conditions = [
    names && (names.length ? t("In {groups}", { groups: formatList(names) }) : t("Nobody")),
    book.favourites && t("Favourites"),
    book.reachable && t("With a number, mail or address"),
  ];
  return conditions.filter(Boolean).join(" · ") || t("Everybody");
}
