// What else is known of a person: the plain fields that are filled, custom fields, and further lines of a card.
import { useAccount } from "../../app/session.ts";
import { dayInWords } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import { dateInWords } from "./dates.ts";
import type { Person } from "./entries.ts";
import { DETAIL_FIELDS, labelOf, type PlainField } from "./fields.ts";

export function hasDetails(person: Person): boolean {
  const { customFieldValues, customFields, more } = person;
  return DETAIL_FIELDS.some((field) => valueInWords(person, field) !== null) || customFieldValues.length + customFields.length + more.length > 0;
}

export function AboutSection({ person }: { person: Person }) {
  const { templates } = useAccount();
  const rows: [string, string][] = [];
  for (const field of DETAIL_FIELDS) {
    const value = valueInWords(person, field);
    if (value !== null) rows.push([labelOf(field), value]);
  }
  for (const { templateId, value } of person.customFieldValues) {
    const template = templates.byId.value.get(templateId);
    if (template) rows.push([template.name, typeof value === "boolean" ? (value ? t("Yes") : t("No")) : String(value)]);
  }
  for (const { key, value } of person.customFields) rows.push([key, value]);
  for (const { name, label, value } of person.more) rows.push([label ?? name, value]);
  return (
    <dl class="card about">
      {rows.map(([label, value], index) => (
        <div key={index}>
          <dt class="soft">{label}</dt>
          <dd dir="auto">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function valueInWords(person: Person, { name, kind }: PlainField): string | null {
  const value = person[name];
  if (value === null || value === undefined || value === "" || value === false) return null;
  if (value === true) return t("Yes");
  if (kind !== "date") return String(value);
  const isUnknown = String(value).startsWith("1604");
  return isUnknown ? dateInWords({ date: String(value), yearUnknown: true }) : dayInWords(String(value), { day: "numeric", month: "long", year: "numeric" });
}
