// Logging that there was contact with people.
import type { Records } from "contacts-client";
import { t } from "../../i18n/index.ts";
import type { Account } from "../../store/account.ts";
import { toast } from "../../ui/toast.tsx";
import type { IconName } from "../../ui/Icon.tsx";

export type Interaction = Records["interaction"];
export type Kind = Interaction["kind"];

export const KINDS: { kind: Kind; label: string; icon: IconName }[] = [
  { kind: "MEETING", label: "Meeting", icon: "group" },
  { kind: "CALL", label: "Call", icon: "phone" },
  { kind: "MESSAGE", label: "Message", icon: "message" },
  { kind: "EMAIL", label: "E-mail", icon: "mail" },
  { kind: "GIFT", label: "Gift", icon: "star" },
  { kind: "NOTE", label: "Note", icon: "edit" },
  { kind: "OTHER", label: "In touch", icon: "log" },
];

export function kindLabel(kind: Kind): string {
  return t(KINDS.find((each) => each.kind === kind)?.label ?? "In touch");
}

export async function logNow(account: Account, person: { id: string }, kind: Kind): Promise<void> {
  const id = await account.copy.create("interaction", { personIds: [person.id], kind, at: new Date().toISOString() });
  toast(t("Logged: {kind}", { kind: kindLabel(kind) }), () => account.copy.delete("interaction", id));
}

export async function deleteInteraction(account: Account, interaction: Interaction): Promise<void> {
  await account.copy.delete("interaction", interaction.id);
  toast(t("The entry is in the trash."), () => account.copy.restore("interaction", interaction.id, interaction));
}
