// Gives the card of a person to another program of the device, or as a file.
import { t } from "../../i18n/index.ts";
import type { Account } from "../../store/account.ts";
import type { PersonRow } from "../../store/people.ts";
import { saveFile } from "../../ui/saveFile.ts";
import { toast } from "../../ui/toast.tsx";
import { toVCard } from "../person/vcard.ts";

export async function shareCard({ copy }: Account, { id, name }: PersonRow): Promise<void> {
  const person = await copy.get("person", id);
  if (!person) return;
  const birthday = (await copy.of("importantDate", id)).find(({ type, yearUnknown }) => type === "BIRTHDAY" && !yearUnknown)?.date.slice(0, 10) ?? null;
  const file = new File([toVCard(person, name, birthday)], `${name.replace(/[^\p{L}\p{N} ._-]/gu, "")}.vcf`, { type: "text/vcard" });
  if (navigator.canShare?.({ files: [file] })) await navigator.share({ files: [file] }).catch(() => undefined);
  else {
    saveFile(file, name, "vcf");
    toast(t("The card of {name} is in your downloads.", { name }));
  }
}
