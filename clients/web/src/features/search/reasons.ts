// Why somebody was found: the part of the record where the words stand.
import type { Records } from "contacts-client";
import { numberTest, storedNumber } from "../../store/numbers.ts";
import { fold } from "../../store/fold.ts";
import { t } from "../../i18n/index.ts";
import { excerpt, type Part } from "./marks.tsx";

type Person = Records["person"];

export interface Reason {
  label: string | null; // null where the text says it itself
  parts: Part[];
}

// Null if the name alone says it.
export function reasonOf(person: Person, shownName: string, query: string, templates: ReadonlyMap<string, { name: string }>): Reason | null {
  const words = fold(query).split(" ").filter(Boolean);
  if (words.every((word) => fold(shownName).includes(word))) return null;
  const hasNumber = numberTest(query) ?? (() => false);
  const number = person.phoneNumbers.find((each) => hasNumber(` ${storedNumber(each.number)}`));
  if (number) return { label: t("Phone"), parts: [{ text: number.number, isMarked: true }] };
  // The words that the name does not have count, of several fields the one with the most.
  const sought = words.filter((word) => !fold(shownName).includes(word));
  let best: { label: string; text: string; count: number } | null = null;
  for (const [label, text] of textsOf(person, templates)) {
    const folded = fold(text);
    const count = sought.filter((word) => folded.includes(word)).length;
    if (count > (best?.count ?? 0)) best = { label, text, count };
  }
  return best && { label: best.label, parts: excerpt(best.text, sought) };
}

function* textsOf(person: Person, templates: ReadonlyMap<string, { name: string }>): Generator<[label: string, text: string]> {
  const join = (parts: (string | null | undefined)[], between = " ") => parts.filter(Boolean).join(between);
  yield ["", join([person.prefix, person.name, person.middleName, person.surname, person.secondLastName, person.suffix])];
  if (person.nickname) yield [t("Nickname"), person.nickname];
  const phonetic = join([person.phoneticSurname, person.phoneticName]);
  if (phonetic) yield [t("Pronounced"), phonetic];
  yield ["", join([person.jobTitle, person.organization], " · ")];
  for (const { email } of person.emails) yield [t("E-mail"), email];
  for (const { streetLine1, streetLine2, postalCode, locality, region, country } of person.addresses) {
    yield ["", join([streetLine1, streetLine2, join([postalCode, locality]), region, country], ", ")];
  }
  if (person.notes) yield [t("Note"), person.notes];
  for (const { key, value } of person.customFields) yield ["", `${key}: ${value}`];
  for (const { templateId, value } of person.customFieldValues) yield ["", `${templates.get(templateId)?.name ?? ""}: ${String(value)}`];
  for (const { url } of person.urls) yield ["", url];
  for (const { protocol, handle } of person.imHandles) yield [protocol ?? "", handle];
  for (const { number } of person.phoneNumbers) yield [t("Phone"), number];
}
