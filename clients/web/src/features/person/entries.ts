// The multi-value fields of a person: what their entries have, and what can be done with one.
import type { Records } from "contacts-client";
import { locale, t } from "../../i18n/index.ts";
import { addressLines } from "./addresses.ts";

export { mailUrl, messengerUrl, smsUrl, telUrl, webUrl } from "../people/reach.ts";
export { addressLines, mapUrl } from "./addresses.ts";

export type Person = Records["person"];
export type ListField = "phoneNumbers" | "emails" | "addresses" | "urls" | "imHandles";
export type Entry = Record<string, unknown> & { id?: string; type?: string | null };

interface Part {
  name: string;
  label: string; // a text of t()
  attributes?: Record<string, string>;
}

export const LISTS: Record<ListField, { title: string; add: string; types: string[]; parts: Part[] }> = {
  phoneNumbers: {
    title: "Phone",
    add: "Phone number",
    types: ["mobile", "home", "work", "other"],
    parts: [{ name: "number", label: "Number", attributes: { type: "tel", inputMode: "tel", autocomplete: "off" } }],
  },
  emails: {
    title: "E-mail",
    add: "E-mail address",
    types: ["home", "work", "other"],
    parts: [{ name: "email", label: "E-mail", attributes: { type: "email", inputMode: "email", autocomplete: "off" } }],
  },
  addresses: {
    title: "Address",
    add: "Postal address",
    types: ["home", "work", "other"],
    parts: [
      { name: "streetLine1", label: "Street" },
      { name: "streetLine2", label: "Second line" },
      { name: "postalCode", label: "Postal code" },
      { name: "locality", label: "Town" },
      { name: "region", label: "Region" },
      { name: "country", label: "Country" },
    ],
  },
  urls: {
    title: "Web",
    add: "Web address",
    types: ["home", "work", "blog", "other"],
    parts: [{ name: "url", label: "Address", attributes: { type: "url", inputMode: "url", autocomplete: "off" } }],
  },
  imHandles: {
    title: "Messenger",
    add: "Messenger",
    types: ["signal", "whatsapp", "telegram", "matrix", "threema", "other"],
    parts: [{ name: "handle", label: "Name or number" }],
  },
};

// The usual types in the user's language, others as they were typed.
export function typeLabel(type: string | null): string {
  const known: Record<string, string> = {
    home: t("Home"),
    work: t("Work"),
    mobile: t("Mobile"),
    cell: t("Mobile"), // as in cards of phones
    other: t("Other"),
    blog: t("Blog"),
    signal: "Signal",
    whatsapp: "WhatsApp",
    telegram: "Telegram",
    matrix: "Matrix",
    threema: "Threema",
  };
  return known[(type ?? "other").toLowerCase()] ?? type ?? "";
}

// The lines of an address to be read, with the name of a country for its code.
export function addressInWords(entry: Entry): string[] {
  const country = String(entry["country"] ?? "").trim().toUpperCase();
  const name = /^[A-Z]{2}$/.test(country) && new Intl.DisplayNames(locale(), { type: "region", fallback: "none" }).of(country);
  const lines = addressLines(entry);
  return name ? [...lines.slice(0, -1), name] : lines;
}
