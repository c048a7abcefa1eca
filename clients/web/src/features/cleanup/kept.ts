// What a person has who was two: the entries of both, each once, and what only one of them has.
import { formatList, t, tn } from "../../i18n/index.ts";
import type { Account } from "../../store/account.ts";
import { fold } from "../../store/fold.ts";
import type { IconName } from "../../ui/Icon.tsx";
import { addressLines, type Entry, type Person } from "../person/entries.ts";
import { dateInWords, type ImportantDate, occasion } from "../person/dates.ts";
import { oneSidedFields, valueInWords } from "./mergeFields.ts";

export interface Kept {
  icon: IconName;
  kind: string; // its colour
  text: string;
  from: string;
}

export interface Side {
  person: Person;
  dates: ImportantDate[];
  contacts: number;
  ties: number;
}

interface Source {
  icon: IconName;
  kind: string;
  texts: (side: Side) => string[];
  key: (text: string) => string; // the same for what is the same
}

const digitsOf = (text: string) => text.replace(/\D/g, "").replace(/^0+/, "").slice(-8) || fold(text);

export function keptFromBoth(account: Account, one: Side, other: Side): Kept[] {
  const sources: Source[] = [
    { icon: "phone", kind: "kind-touch", texts: ({ person }) => person.phoneNumbers.map(({ number }) => number), key: digitsOf },
    { icon: "mail", kind: "kind-accent", texts: ({ person }) => person.emails.map(({ email }) => email), key: fold },
    { icon: "location", kind: "kind-place", texts: ({ person }) => person.addresses.map((entry) => addressLines(entry as Entry).join(", ")), key: fold },
    { icon: "link", kind: "kind-accent", texts: ({ person }) => person.urls.map(({ url }) => url), key: fold },
    { icon: "message", kind: "kind-touch", texts: ({ person }) => person.imHandles.map(({ handle }) => handle), key: fold },
    { icon: "calendar", kind: "kind-date", texts: ({ dates }) => dates.map((date) => `${occasion(date)}: ${dateInWords(date)}`), key: fold },
    { icon: "group", kind: "kind-tie", texts: ({ person }) => person.groupIds.flatMap((id) => account.groups.byId.value.get(id)?.name ?? []), key: fold },
  ];
  const found = sources.flatMap(({ icon, kind, texts, key }) => {
    const [ofOne, ofOther] = [texts(one), texts(other)].map((list) => new Map(list.filter(Boolean).map((text) => [key(text), text])));
    return [...new Map([...ofOther!, ...ofOne!])].map(([same, text]) => ({ icon, kind, text, from: fromWhom(ofOne!.has(same), ofOther!.has(same)) }));
  });
  for (const field of oneSidedFields(one.person, other.person)) {
    const isOfOne = !field.isEmpty(one.person);
    found.push({ icon: "edit", kind: "kind-note", text: `${field.label()}: ${valueInWords(account, isOfOne ? one.person : other.person, field)}`, from: fromWhom(isOfOne, !isOfOne) });
  }
  const [ties, contacts] = [one.ties + other.ties, one.contacts + other.contacts];
  const counts = [ties > 0 && tn("{count} tie", "{count} ties", ties), contacts > 0 && tn("{count} logged contact", "{count} logged contacts", contacts)].filter((text) => text !== false);
  if (counts.length > 0) found.push({ icon: "log", kind: "kind-note", text: formatList(counts), from: fromWhom(one.ties + one.contacts > 0, other.ties + other.contacts > 0) });
  return found;
}

function fromWhom(isOfOne: boolean, isOfOther: boolean): string {
  return isOfOne && isOfOther ? t("both|have it") : isOfOne ? t("from the first") : t("from the second");
}
