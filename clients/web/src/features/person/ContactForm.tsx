// The form of numbers, addresses and handles.
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { t } from "../../i18n/index.ts";
import { SelectField, TextField } from "../../ui/Field.tsx";
import type { Form } from "../../ui/form.ts";
import { Icon } from "../../ui/Icon.tsx";
import { type Entry, LISTS, type ListField, typeLabel } from "./entries.ts";
import { MoveOthers, type Movers } from "./sharedAddress.tsx";

export const CONTACT_FIELDS = Object.keys(LISTS) as ListField[];

export type ContactValues = { [F in ListField]: Entry[] } & { movers: Movers };

export function ContactForm({ form, personId }: { form: Form<ContactValues>; personId: string }) {
  const values = form.values.value;
  const moveOthers = (entry: Entry) =>
    entry.id && <MoveOthers personId={personId} entry={entry} seen={form.seen.addresses} isOn={values.movers?.[entry.id] ?? false} onChange={(isOn) => form.set("movers", { ...values.movers, [entry.id!]: isOn })} />;
  return (
    <div class="columns">
      {CONTACT_FIELDS.map((field) => (
        <EntryList key={field} field={field} entries={values[field]} errors={form.errors.value} onEntries={(entries) => form.set(field, entries)} below={field === "addresses" ? moveOthers : undefined} />
      ))}
    </div>
  );
}

interface ListProps {
  field: ListField;
  entries: Entry[];
  errors: Record<string, string>;
  onEntries: (entries: Entry[]) => void;
  below?: ((entry: Entry) => ComponentChildren) | undefined; // the parts of an entry
}

export function EntryList({ field, entries, errors, onEntries, below }: ListProps) {
  const list = LISTS[field];
  const { title, types, parts } = list;
  const typeName = field === "imHandles" ? "protocol" : "type";
  const fieldset = useRef<HTMLFieldSetElement>(null);
  // Without any the line for the first one is there already.
  const shown: Entry[] = entries.length || !isUsual(field) ? entries : [{ [typeName]: types[0] }];
  const change = (index: number, name: string, value: string) =>
    onEntries(shown.map((entry, at) => (at === index ? { ...entry, [name]: value } : entry)));
  const add = () => {
    onEntries([...shown, { [typeName]: types[0] }]);
    requestAnimationFrame(() => [...fieldset.current!.querySelectorAll<HTMLElement>(".entry")].at(-1)?.querySelector<HTMLElement>("input")?.focus());
  };
  return (
    <fieldset ref={fieldset} data-list={field} class={`entries ${field === "addresses" ? "whole-row" : ""}`}>
      <legend>{t(title)}</legend>
      {shown.map((entry, index) => (
        <div class={`entry entry-${parts.length > 1 ? "block" : "line"}`} key={entry.id ?? `new ${index}`}>
          <SelectField
            label={t("Kind")}
            value={String(entry[typeName] ?? types[0])}
            options={[...new Set([...types, String(entry[typeName] ?? types[0])])].map((type) => [type, typeLabel(type)] as const)}
            onValue={(value) => change(index, typeName, value)}
          />
          {parts.map(({ name, label, attributes }) => (
            <TextField
              key={name}
              label={t(label)}
              value={String(entry[name] ?? "")}
              onValue={(value) => change(index, name, value)}
              error={errors[`${field}.${index}.${name}`]}
              {...attributes}
            />
          ))}
          <button type="button" class="plain icon" onClick={() => onEntries(shown.filter((_, at) => at !== index))} aria-label={t("Remove {title} {number}", { title: t(title), number: index + 1 })}>
            <Icon name="trash" />
          </button>
          {below?.(entry)}
        </div>
      ))}
      <button type="button" class="chip add" onClick={add}>
        <Icon name="add" size={16} />
        {t(list.add)}
      </button>
    </fieldset>
  );
}

function isUsual(field: ListField): boolean {
  return field === "phoneNumbers" || field === "emails";
}

// Entries in which nothing was typed are left out.
export function filledEntries(field: ListField, entries: Entry[]): Entry[] {
  return entries.filter((entry) => LISTS[field].parts.some(({ name }) => String(entry[name] ?? "").trim() !== ""));
}
