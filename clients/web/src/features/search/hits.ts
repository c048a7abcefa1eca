// What the box offers beside people: what the words say is to be done, groups, places, tools and settings.
import { openAdd } from "../../app/box.ts";
import { PLACES, TOOLS } from "../../app/navigation.ts";
import { navigate } from "../../app/router.ts";
import { formatList, t, tn } from "../../i18n/index.ts";
import type { Account } from "../../store/account.ts";
import { fold } from "../../store/fold.ts";
import type { PersonRow } from "../../store/people.ts";
import { nearestHue } from "../../ui/hue.ts";
import type { IconName } from "../../ui/Icon.tsx";
import { isHelpOpen } from "../../ui/keyboard.ts";
import { keyActions } from "../../ui/keyboard.ts";
import { follow, mailUrl, smsUrl, telUrl, usual } from "../people/reach.ts";
import { SETTINGS } from "../settings/entries.ts";
import type { Reading, Verb } from "../add/parse.ts";
import { NO_CHOICES, planOf, summaryOf } from "../add/plan.ts";
import { marked, type Part } from "./marks.tsx";
import { shareCard } from "./share.ts";

export interface Hit {
  key: string;
  title: Part[];
  detail: string;
  icon?: IconName;
  tone?: string; // a class `kind-...`
  hue?: string; // of a dot
  keyHint?: string;
  person?: PersonRow;
  act: () => void;
}

const MAX_GROUPS = 4;
const MAX_GO = 6;
const MAX_CHOICES = 4; // of a name that several have
// What moves in a list is of no use from here.
const KEYS_OF_LISTS = ["j", "k", "[", "]", "x", "/", "g", "?"];

const plain = (text: string): Part[] => [{ text, isMarked: false }];

export function callUrl(account: Account, row: PersonRow): string | null {
  const number = usual(account.id, row.id, "call") ?? row.phone;
  return number && telUrl(number);
}

export function messageUrl(row: PersonRow): string | null {
  return row.phone && smsUrl(row.phone);
}

// "Call jane": for each whom the name may mean. "Log a meeting with ana and ben", "jane birthday 3 may": the line, to be saved there.
export function understoodHits(reading: Reading | null, query: string, given: readonly string[], account: Account): Hit[] {
  if (!reading || !query.trim()) return [];
  const rows = reading.people.flatMap(({ ids }) => ids).flatMap((id) => account.person(id) ?? []);
  if (reading.verb && reading.verb !== "make" && rows.length) {
    const hits = hitsOfVerb(reading.verb, rows.slice(0, MAX_CHOICES), account);
    if (hits.length) return hits;
  }
  const isSaid =
    reading.kind === "contact" ? reading.contactKind !== "NOTE" && reading.people.length + reading.groupIds.length > 0
    : reading.kind === "person" ? Boolean(reading.date) || reading.phones.length + reading.emails.length > 0
    : reading.kind !== "note" && reading.people.length > 0;
  if (!isSaid) return [];
  const { icon, tone, title, when } = summaryOf(planOf(reading, query, NO_CHOICES, given, account), account);
  return [{ key: "line", icon, tone: `kind-${tone}`, title: plain(title), detail: when, act: () => openAdd(query) }];
}

function hitsOfVerb(verb: Verb, rows: PersonRow[], account: Account): Hit[] {
  const names = formatList(rows.map(({ name }) => name));
  switch (verb) {
    case "log":
      return [{ key: "log", icon: "log", tone: "kind-touch", title: plain(t("Log a meeting with {name}", { name: names })), detail: "", act: () => openAdd("", rows.map(({ id }) => id), true) }];
    case "call":
      return rows.flatMap((row) => {
        const url = callUrl(account, row);
        return url ? [{ key: `call ${row.id}`, icon: "phone" as const, tone: "kind-touch", title: plain(t("Call {name}", { name: row.name })), detail: usual(account.id, row.id, "call") ?? row.phone ?? "", act: () => follow(url) }] : [];
      });
    case "message":
      return rows.flatMap((row) => {
        const url = messageUrl(row);
        return url ? [{ key: `message ${row.id}`, icon: "message" as const, tone: "kind-touch", title: plain(t("Message {name}", { name: row.name })), detail: row.phone ?? "", act: () => follow(url) }] : [];
      });
    case "mail": {
      const all = rows.flatMap(({ email }) => email ?? []);
      const url = all.length === 1 ? mailUrl(all[0]!) : `mailto:${all.map((email) => mailUrl(email).slice("mailto:".length)).join(",")}`;
      return all.length ? [{ key: "mail", icon: "mail", tone: "kind-touch", title: plain(t("Mail {name}", { name: names })), detail: all.join(", "), act: () => follow(url) }] : [];
    }
    case "open":
      return rows.map((row) => ({ key: `open ${row.id}`, icon: "people" as const, tone: "kind-accent", title: plain(t("Open {name}", { name: row.name })), detail: "", act: () => navigate(`/people/${row.id}`) }));
    case "share":
      return rows.map((row) => ({ key: `share ${row.id}`, icon: "share" as const, tone: "kind-accent", title: plain(t("Share {name}", { name: row.name })), detail: "", act: () => void shareCard(account, row) }));
    case "make":
      return [];
  }
}

// What can be done with the best of those who were found.
export function personHits(account: Account, row: PersonRow): Hit[] {
  const { name } = row;
  const url = callUrl(account, row);
  return [
    ...(url ? [{ key: "do call", icon: "phone" as const, tone: "kind-touch", title: plain(t("Call {name}", { name })), detail: "", act: () => follow(url) }] : []),
    { key: "do log", icon: "log", tone: "kind-touch", title: plain(t("Log a meeting with {name}", { name })), detail: "", act: () => openAdd("", [row.id], true) },
    { key: "do date", icon: "cake", tone: "kind-date", title: plain(t("Add a birthday of {name}", { name })), detail: "", act: () => openAdd(`${name} ${t("birthday|in a line")} `) },
    { key: "do network", icon: "network", tone: "kind-tie", title: plain(t("Network around {name}", { name })), detail: "", act: () => navigate(`/people/${row.id}/network`) },
  ];
}

export function newPersonHit(query: string): Hit {
  const name = query.trim();
  return { key: "new", icon: "add", tone: "kind-accent", title: plain(t("New person: {name}", { name })), detail: "", act: () => navigate(`/people/new?name=${encodeURIComponent(name)}`) };
}

// What the keys of the page do, for those who look for it by words.
export function pageHits(words: readonly string[]): Hit[] {
  const seen = new Set<string>();
  const actions = keyActions.peek().filter(({ key }) => key.length === 1 && !KEYS_OF_LISTS.includes(key) && !seen.has(key) && seen.add(key));
  const help: Hit = { key: "page ?", icon: "list", tone: "kind-accent", title: plain(t("Show the keys")), detail: "", keyHint: "?", act: () => (isHelpOpen.value = true) };
  const hits = actions.map(({ key, label, act }): Hit => ({ key: `page ${key}`, icon: "next", tone: "kind-accent", title: marked(label, words), detail: "", keyHint: key, act }));
  return [...hits, help].filter(({ title }) => words.length === 0 || hasWords(title.map(({ text }) => text).join(""), words)).slice(0, MAX_GO);
}

export function groupHits(account: Account, words: readonly string[]): Hit[] {
  const found = account.groups.all.filter(({ name }) => hasWords(name, words));
  return found.slice(0, MAX_GROUPS).map(({ id, name, color }) => {
    const count = account.people.value.filter(({ groupIds }) => groupIds.includes(id)).length;
    return { key: `group ${id}`, hue: nearestHue(color), title: marked(name, words), detail: tn("{count} person", "{count} people", count), act: () => navigate(`/groups/${id}`) };
  });
}

// Places, tools and settings by their words; those that are called so before those that only have it.
export function placeHits(words: readonly string[]): Hit[] {
  const places = [
    ...[...PLACES, ...TOOLS, { path: "/groups", label: "Groups", icon: "group" as const }, { path: "/shares", label: "Shared with others", icon: "share" as const }].map(({ path, label, icon }) => ({ path, title: t(label), about: "", icon, tone: "kind-place" })),
    ...SETTINGS.map(({ path, label, hint, icon, kind }) => ({ path, title: `${t("Settings")} › ${t(label)}`, about: t(hint), icon, tone: `kind-${kind}` })),
  ];
  const found = places.filter(({ title, about }) => hasWords(`${title} ${about}`, words));
  const isCalled = ({ title }: { title: string }) => (hasWords(title.split("› ").at(-1)!, words) ? 0 : 1);
  found.sort((one, other) => isCalled(one) - isCalled(other));
  return found.slice(0, MAX_GO).map(({ path, title, about, icon, tone }) => ({
    key: `go ${path}`,
    icon,
    tone,
    title: marked(title, words),
    detail: hasWords(title, words) ? "" : about,
    act: () => navigate(path),
  }));
}

// Whether each of the words begins one of the text, or stands anywhere in it where words have no blanks between them.
function hasWords(text: string, words: readonly string[]): boolean {
  const folded = ` ${fold(text).replace(/[^\p{L}\p{N}]+/gu, " ")}`;
  return words.every((word) => folded.includes(/[\u3040-\u9fff]/.test(word) ? word : ` ${word}`));
}

