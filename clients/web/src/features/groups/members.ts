// What is done with all people of a group.
import { t, tn } from "../../i18n/index.ts";
import type { Account } from "../../store/account.ts";
import type { PersonRow } from "../../store/people.ts";
import { saveFile } from "../../ui/saveFile.ts";
import { toast } from "../../ui/toast.tsx";
import { toVCard } from "../person/vcard.ts";

const MAX_URL_LENGTH = 1900; // longer ones are cut or refused by mail programs

// The first address of each, as a mail in which nobody sees the others. No URL if it would be too long.
export async function mailtoAll({ copy }: Account, members: readonly PersonRow[]): Promise<{ url: string | null; addresses: string[] }> {
  const people = await copy.many("person", members.map(({ id }) => id));
  const addresses = [...new Set([...people.values()].flatMap(({ emails }) => emails.slice(0, 1).map(({ email }) => email)))];
  const url = `mailto:?bcc=${addresses.map(encodeURIComponent).join(",")}`;
  return { url: addresses.length && url.length <= MAX_URL_LENGTH ? url : null, addresses };
}

export async function downloadCards({ copy }: Account, members: readonly PersonRow[], name: string): Promise<void> {
  const people = await copy.many("person", members.map(({ id }) => id));
  const birthdays = new Map((await copy.all("importantDate")).flatMap(({ type, yearUnknown, personId, date }) => (type === "BIRTHDAY" && !yearUnknown ? [[personId, date.slice(0, 10)] as const] : [])));
  const cards = members.flatMap((row) => {
    const person = people.get(row.id);
    return person ? [toVCard(person, row.name, birthdays.get(row.id) ?? null)] : [];
  });
  saveFile(new Blob(cards, { type: "text/vcard" }), name || t("Group"), "vcf");
  toast(tn("{count} card, without your notes.", "{count} cards, without your notes.", cards.length));
}
