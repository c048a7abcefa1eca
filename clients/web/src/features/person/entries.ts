// The multi-value fields of a person: what their entries have, and what can be done with one.
import type { Records } from "contacts-client";
import { t } from "../../i18n/index.ts";

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

export function telUrl(number: string): string | null {
  const digits = number.replace(/[^0-9*#]/g, "");
  return digits.length >= 3 ? `tel:${/^\s*\(?\+/.test(number) ? "+" : ""}${digits}` : null;
}

// Other schemes are not linked: `javascript:` would run as this page. www.example.org is linked without one.
export function webUrl(url: string): string | null {
  try {
    const { protocol, href } = new URL(/^www\./i.test(url) ? `https://${url}` : url);
    return protocol === "http:" || protocol === "https:" ? href : null;
  } catch {
    return null;
  }
}

export function messengerUrl(protocol: string | null, handle: string): string | null {
  const digits = handle.replace(/\D/g, "");
  switch (protocol?.toLowerCase()) {
    case "whatsapp":
      return digits ? `https://wa.me/${digits}` : null;
    case "signal":
      return digits ? `https://signal.me/#p/+${digits}` : null;
    case "telegram":
      return `https://t.me/${encodeURIComponent(handle.replace(/^@/, ""))}`;
    case "matrix":
      return `https://matrix.to/#/${encodeURIComponent(handle)}`;
    default:
      return webUrl(handle);
  }
}

export function addressLines(entry: Entry): string[] {
  const text = (name: string) => String(entry[name] ?? "");
  const town = [text("postalCode"), text("locality")].filter(Boolean).join(" ");
  return [text("streetLine1"), text("streetLine2"), town, text("region"), text("country")].filter(Boolean);
}

export function mapUrl(entry: Entry): string {
  return `https://www.openstreetmap.org/search?query=${encodeURIComponent(addressLines(entry).join(", "))}`;
}
