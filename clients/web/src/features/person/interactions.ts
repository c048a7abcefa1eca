// Logging that there was contact with people.
import type { Records } from "contacts-client";
import { t } from "../../i18n/index.ts";
import type { Account } from "../../store/account.ts";
import { toast } from "../../ui/toast.tsx";
import type { IconName } from "../../ui/Icon.tsx";

export type Interaction = Records["interaction"];
export type Kind = Interaction["kind"];

// `tone` is the colour of a memory of that kind.
export const KINDS: { kind: Kind; label: string; icon: IconName; tone: "touch" | "note" }[] = [
  { kind: "MEETING", label: "Meeting", icon: "log", tone: "touch" },
  { kind: "CALL", label: "Call", icon: "phone", tone: "touch" },
  { kind: "MESSAGE", label: "Message", icon: "message", tone: "touch" },
  { kind: "EMAIL", label: "E-mail", icon: "mail", tone: "touch" },
  { kind: "GIFT", label: "Gift", icon: "gift", tone: "note" },
  { kind: "NOTE", label: "Note", icon: "note", tone: "note" },
  { kind: "OTHER", label: "In touch", icon: "check", tone: "touch" },
];

export function kindOf(kind: Kind) {
  return KINDS.find((each) => each.kind === kind) ?? KINDS.at(-1)!;
}

export function kindLabel(kind: Kind): string {
  const { label } = kindOf(kind);
  return t(label);
}

const MAX_TITLE = 200;

// Logs it now, with what was typed about it.
export async function logNow(account: Account, person: { id: string }, kind: Kind, text = ""): Promise<void> {
  const line = text.trim();
  const words = line.length > MAX_TITLE ? { notes: line } : line ? { title: line } : {};
  const id = await account.copy.create("interaction", { personIds: [person.id], kind, at: new Date().toISOString(), ...words });
  toast(t("Logged: {kind}", { kind: kindLabel(kind) }), () => account.copy.delete("interaction", id));
}

export async function deleteInteraction(account: Account, interaction: Interaction): Promise<void> {
  await account.copy.delete("interaction", interaction.id);
  toast(t("The entry is in the trash."), () => account.copy.restore("interaction", interaction.id, interaction));
}

let stopWaiting = () => {};

// After a link that leads out of the page: once its user is back, asks whether it is to be logged.
export function offerLog(account: Account, person: { id: string; name: string }, kind: "CALL" | "MESSAGE" | "EMAIL"): void {
  stopWaiting();
  let wasAway = false;
  const leave = () => void (wasAway = true);
  const comeBack = () => {
    if (document.hidden) return leave();
    if (!wasAway) return;
    stopWaiting();
    const { name } = person;
    const question = { CALL: t("Log the call with {name}?", { name }), MESSAGE: t("Log the message to {name}?", { name }), EMAIL: t("Log the mail to {name}?", { name }) }[kind];
    toast(question, () => logNow(account, person, kind), t("Log it"));
  };
  // A desk opens another window and hides nothing.
  addEventListener("blur", leave);
  addEventListener("focus", comeBack);
  document.addEventListener("visibilitychange", comeBack);
  stopWaiting = () => {
    removeEventListener("blur", leave);
    removeEventListener("focus", comeBack);
    document.removeEventListener("visibilitychange", comeBack);
  };
}
