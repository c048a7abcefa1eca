// The plain fields of a person, in the sections of the page.
import type { Person } from "./entries.ts";

interface PlainField {
  name: keyof Person & string;
  label: string; // a text of t()
  maxLength: number;
  attributes?: Record<string, string>;
}

const words = { autocapitalize: "words", autocomplete: "off" };

export const NAME_FIELDS: PlainField[] = [
  { name: "name", label: "Given name", maxLength: 100, attributes: words },
  { name: "surname", label: "Surname", maxLength: 100, attributes: words },
  { name: "nickname", label: "Nickname", maxLength: 100, attributes: words },
  { name: "middleName", label: "Middle name", maxLength: 100, attributes: words },
  { name: "secondLastName", label: "Second surname", maxLength: 100, attributes: words },
  { name: "prefix", label: "Title before the name", maxLength: 50 },
  { name: "suffix", label: "Title after the name", maxLength: 50 },
  { name: "phoneticName", label: "Given name as spoken", maxLength: 100 },
  { name: "phoneticSurname", label: "Surname as spoken", maxLength: 100 },
  { name: "displayNameOverride", label: "Show this name instead", maxLength: 200 },
];

export const DETAIL_FIELDS: PlainField[] = [
  { name: "organization", label: "Organization", maxLength: 200 },
  { name: "jobTitle", label: "Profession or role", maxLength: 200 },
  { name: "gender", label: "Gender", maxLength: 50 },
  { name: "lastContact", label: "Last contact", maxLength: 10, attributes: { type: "date" } },
  { name: "deathday", label: "Died on", maxLength: 10, attributes: { type: "date" } },
];
