// What the service says about notices in codes, in words.
import { connection } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { toast } from "../../ui/toast.tsx";
import { occasion } from "../person/dates.ts";

type Words = Record<string, { label: string }>;

const CODES: Words = {
  blocked: { label: "The address is not allowed by this service." },
  dns: { label: "The server's name was not found." },
  timeout: { label: "The server did not answer in time." },
  refused: { label: "Nobody answers at this address." },
  tls: { label: "The server's certificate is not valid." },
  redirect: { label: "The address leads to another one. Give the last one." },
  http_4xx: { label: "The server refused it: look at the address and the token." },
  http_429: { label: "The server asks to wait. Try again later." },
  http_5xx: { label: "The server has a fault of its own." },
  unexpected_response: { label: "Something else than expected answers there." },
  unknown: { label: "It failed for a reason that is not known." },
  reminder_off: { label: "Its reminder is off." },
  quiet: { label: "The person is quiet." },
  me: { label: "This is you." },
  deceased: { label: "The person has died." },
  lead_not_after_previous: { label: "The advance notice would be before the last occurrence." },
  no_events: { label: "There is nothing to report." },
  no_channel: { label: "No channel is on." },
  skipped: { label: "You have left it out." },
  snoozed: { label: "You have put it off: it comes again." },
  email_disabled: { label: "E-mail is off." },
  email_unverified: { label: "Your e-mail address is not verified." },
  disabled: { label: "It was switched off." },
  auto_disabled: { label: "It was switched off after too many failures." },
  plan: { label: "Your plan does not include it." },
  push_not_configured: { label: "This service has no keys for push." },
  deleted: { label: "It was removed meanwhile." },
};

const STATES: Words = {
  pending: { label: "waits" },
  sending: { label: "is being sent" },
  sent: { label: "sent" },
  failed: { label: "failed" },
  skipped: { label: "not sent" },
};

const CHANNELS: Words = {
  email: { label: "E-mail" },
  push: { label: "Push" },
  ntfy: { label: "ntfy" },
  webhook: { label: "Webhook" },
};

function inWords(words: Words, code: string | null): string {
  const found = words[(code ?? "").toLowerCase()];
  return found ? t(found.label) : (code ?? "");
}

export const reasonInWords = (code: string | null) => inWords(CODES, code);
export const stateInWords = (state: string) => inWords(STATES, state);
export const channelInWords = (channel: string | null) => inWords(CHANNELS, channel);

interface Notice {
  kind: string;
  personName: string | null;
  type: string | null;
  title: string | null;
}

export function noticeInWords({ kind, personName, type, title }: Notice): string {
  if (kind === "digest.weekly") return t("What comes in the week");
  if (kind === "carddav.contacts_found") return t("New contacts on your server");
  if (kind === "dav.deletions") return t("A device deleted many people");
  if (kind === "dav.refused") return t("Not everything from a device could be saved");
  if (kind === "share.held") return t("Many changes of another member wait for your word");
  if (kind === "reminder.contact") return t("Get in touch with {name}", { name: personName ?? "" });
  const text = t("{occasion} of {name}", { occasion: occasion({ type, title } as Parameters<typeof occasion>[0]), name: personName ?? "" });
  return kind === "reminder.important_date_lead" ? t("{notice}, in advance", { notice: text }) : text;
}

// Sends a test over one way, and says how it went.
export async function test(path: string): Promise<void> {
  const { ok, code } = await connection.ask("POST", `${path}/test`);
  toast(ok ? t("The test has arrived.") : reasonInWords(code));
}
