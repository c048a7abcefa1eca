// What a line will write: what was understood, with what the user has chosen instead.
import type { Records } from "contacts-client";
import { type Day, today } from "../../i18n/days.ts";
import { formatList, t } from "../../i18n/index.ts";
import type { Account } from "../../store/account.ts";
import type { IconName } from "../../ui/Icon.tsx";
import { dayInWords } from "../../i18n/days.ts";
import { type Kind, kindLabel } from "../person/interactions.ts";
import { occasion } from "../person/dates.ts";
import type { NewName, Person, Reading } from "./parse.ts";

export type ContactKind = Kind;

// What the user has changed of what was understood. `who`: of a name that several have, the one that is meant.
export interface Choices {
  isNote: boolean; // all is a note
  contactKind: ContactKind | null;
  day: Day | null;
  who: Readonly<Record<string, string>>;
  removed: readonly string[]; // names as typed, and ids
  isReminded: boolean;
}

export const NO_CHOICES: Choices = { isNote: false, contactKind: null, day: null, who: {}, removed: [], isReminded: true };

export interface Plan {
  kind: "contact" | "person" | "details" | "date" | "relation" | "group";
  people: PlannedPerson[];
  groupIds: string[];
  contactKind: ContactKind;
  day: Day | null; // null: now
  title: string | null;
  notes: string;
  date: { type: Records["importantDate"]["type"]; day: Day | null; yearUnknown: boolean } | null;
  phones: string[];
  emails: string[];
  typeId: string | null;
  isReminded: boolean;
  question: Person | null; // a name that several people have
  names: string[]; // of all, as they are shown or typed
  isReady: boolean;
}

// `id` is null for somebody new. `text`: as typed, or the id of one whom the page has given.
export interface PlannedPerson {
  id: string | null;
  newName: NewName | null;
  text: string;
  shownName: string;
}

const MAX_TOGETHER = 50; // people of a logged contact

// `given`: those who are meant if the line names nobody, such as the person on the screen.
export function planOf(reading: Reading, text: string, choices: Choices, given: readonly string[], account: Account): Plan {
  const { isNote, who, removed } = choices;
  const isUnderstood = reading.kind !== "note" && !isNote;
  let question: Person | null = null;
  const named = reading.people
    .filter((person) => !removed.includes(person.text) && !(isNote && person.newName))
    .flatMap((person): PlannedPerson[] => {
      const id = who[person.text] ?? (person.ids.length === 1 ? person.ids[0]! : null);
      if (person.newName) return [{ id: null, newName: person.newName, text: person.text, shownName: person.text }];
      if (id === null) {
        question ??= person;
        return [];
      }
      return [{ id, newName: null, text: person.text, shownName: account.person(id)?.name ?? person.text }];
    });
  const names = reading.people
    .filter((person) => !removed.includes(person.text) && !(isNote && person.newName))
    .map((person) => named.find((each) => each.text === person.text)?.shownName ?? person.text);
  const isContact = !isUnderstood || reading.kind === "contact";
  const groupIds = reading.groupIds.filter((id) => !removed.includes(id));
  const isAlone = named.length === 0 && question === null && !(isContact && groupIds.length > 0);
  const people = isAlone && reading.kind !== "person"
    ? given.filter((id) => !removed.includes(id)).map((id) => ({ id, newName: null, text: id, shownName: account.person(id)?.name ?? "" }))
    : named;
  const contactKind = choices.contactKind ?? (isUnderstood ? reading.contactKind : null) ?? "NOTE";
  const title = isUnderstood && isContact ? titleOf(reading, contactKind) : null;
  const kind = isContact ? "contact" : (reading.kind as Plan["kind"]);
  const date = reading.date && (choices.day ? { ...reading.date, day: choices.day, yearUnknown: false } : reading.date);
  const plan: Plan = {
    kind,
    people,
    groupIds,
    contactKind,
    day: choices.day ?? reading.day,
    title,
    notes: isNote ? text.trim() : reading.notes,
    date,
    phones: reading.phones,
    emails: reading.emails,
    typeId: reading.relation?.typeId ?? null,
    isReminded: choices.isReminded,
    question,
    names: names.length ? names : people.map(({ shownName }) => shownName),
    isReady: false,
  };
  plan.isReady = question === null && isComplete(plan);
  return plan;
}

function isComplete({ kind, people, groupIds, contactKind, notes, title, date, phones, emails }: Plan): boolean {
  if (kind === "relation") return people.length === 2 && people[0]!.id !== people[1]!.id;
  if (people.length === 0 && !(kind === "contact" && groupIds.length > 0)) return false;
  if (kind === "date") return date?.day != null;
  if (kind === "details") return phones.length + emails.length > 0;
  if (kind === "contact") return contactKind !== "NOTE" || Boolean(notes || title);
  return true;
}

// "Tea in Porto", "Meeting in Porto"; nothing where the kind says it all.
function titleOf({ title, where }: Reading, kind: ContactKind): string | null {
  return [title ?? (where && kindLabel(kind)), where].filter(Boolean).join(" ") || null;
}

// Whom a contact is logged with: those who are named, and all of the groups.
export function idsOf({ people, groupIds }: Plan, account: Account): string[] {
  const members = account.people.value.filter((row) => row.groupIds.some((id) => groupIds.includes(id))).map(({ id }) => id);
  return [...new Set([...people.flatMap(({ id }) => id ?? []), ...members])].slice(0, MAX_TOGETHER);
}

export interface Summary {
  icon: IconName;
  tone: "touch" | "date" | "tie" | "accent" | "note";
  title: string;
  when: string;
}

const ICONS: Record<ContactKind, IconName> = { MEETING: "log", CALL: "phone", MESSAGE: "message", EMAIL: "mail", GIFT: "gift", NOTE: "note", OTHER: "log" };

// What will be written, in a sentence.
export function summaryOf(plan: Plan, account: Account): Summary {
  const { names } = plan;
  const groups = plan.groupIds.map((id) => account.groups.byId.value.get(id)?.name ?? "");
  const all = formatList([...names, ...(plan.kind === "contact" ? groups : [])].filter(Boolean));
  const [first = "…", second = "…"] = names;
  switch (plan.kind) {
    case "relation": {
      const type = account.relationshipTypes.byId.value.get(plan.typeId ?? "");
      return { icon: "link", tone: "tie", title: t("{name} is {type} of {other}.", { name: first, type: type?.label ?? "", other: second }), when: "" };
    }
    case "group":
      return { icon: "group", tone: "tie", title: t("{names} into {group}", { names: all, group: formatList(groups) }), when: "" };
    case "date": {
      const type = plan.date!.type;
      return { icon: type === "BIRTHDAY" ? "cake" : "calendar", tone: "date", title: t("{occasion} of {name}", { occasion: occasion({ type, title: null }), name: first }), when: dateInWords(plan) };
    }
    case "person":
      return { icon: "people", tone: "accent", title: t("New person: {name}", { name: first }), when: plan.date ? `${occasion({ type: plan.date.type, title: null })}: ${dateInWords(plan)}` : "" };
    case "details":
      return { icon: plan.phones.length ? "phone" : "mail", tone: "accent", title: t("For {name}: {value}", { name: first, value: [...plan.phones, ...plan.emails].join(", ") }), when: "" };
    case "contact": {
      const what = plan.title ?? kindLabel(plan.contactKind);
      const day = plan.day ?? today(account.settings.value.timezone);
      return {
        icon: ICONS[plan.contactKind],
        tone: plan.contactKind === "NOTE" ? "note" : "touch",
        title: all ? t("{what} with {names}", { what, names: all }) : what,
        when: dayInWords(day, { weekday: "long", day: "numeric", month: "long", ...(day.slice(0, 4) === today(account.settings.value.timezone).slice(0, 4) ? {} : { year: "numeric" }) }),
      };
    }
  }
}

function dateInWords({ date }: Plan): string {
  if (!date?.day) return "";
  return dayInWords(date.yearUnknown ? `2024${date.day.slice(4)}` : date.day, { day: "numeric", month: "long", ...(date.yearUnknown ? {} : { year: "numeric" }) });
}
