// How to reach a person: every number, address and handle is a link, with a copy.
import { useEffect, useState } from "preact/hooks";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { announce } from "../../ui/announce.ts";
import { SelectField, TextField } from "../../ui/Field.tsx";
import type { Form } from "../../ui/form.ts";
import { Icon, type IconName } from "../../ui/Icon.tsx";
import { toast } from "../../ui/toast.tsx";
import { addressLines, type Entry, LISTS, type ListField, mapUrl, messengerUrl, type Person, smsUrl, telUrl, typeLabel, webUrl } from "./entries.ts";
import { logNow } from "./interactions.ts";

export const CONTACT_FIELDS = Object.keys(LISTS) as ListField[];

export function ContactSection({ person, name }: { person: Person; name: string }) {
  return (
    <ul class="contact">
      {person.phoneNumbers.map((entry) => (
        <Line key={entry.id} person={person} name={name} kind="CALL" label={typeLabel(entry.type)} text={entry.number} url={telUrl(entry.number)} action={t("Call {name}: {value}", { name, value: entry.number })}>
          {telUrl(entry.number) && (
            <LinkIcon icon="message" url={smsUrl(entry.number)!} label={t("Write {name} a message: {value}", { name, value: entry.number })} />
          )}
        </Line>
      ))}
      {person.emails.map((entry) => (
        <Line key={entry.id} person={person} name={name} kind="EMAIL" label={typeLabel(entry.type)} text={entry.email} url={`mailto:${encodeURIComponent(entry.email).replace("%40", "@")}`} action={t("Write {name} an e-mail: {value}", { name, value: entry.email })} />
      ))}
      {person.imHandles.map((entry) => (
        <Line key={entry.id} person={person} name={name} kind="MESSAGE" label={typeLabel(entry.protocol)} text={entry.handle} url={messengerUrl(entry.protocol, entry.handle)} action={t("Write {name} a message: {value}", { name, value: entry.handle })} />
      ))}
      {person.addresses.map((entry) => (
        <Line key={entry.id} person={person} name={name} kind={null} label={typeLabel(entry.type)} text={addressLines(entry as Entry).join("\n")} url={mapUrl(entry as Entry)} action={t("Show the address of {name} on a map: {value}", { name, value: addressLines(entry as Entry).join(" ") })} />
      ))}
      {person.urls.map((entry) => (
        <Line key={entry.id} person={person} name={name} kind={null} label={typeLabel(entry.type)} text={entry.url} url={webUrl(entry.url)} action={t("Open the page of {name}: {value}", { name, value: entry.url })} />
      ))}
    </ul>
  );
}

interface LineProps {
  person: Person;
  name: string;
  kind: "CALL" | "EMAIL" | "MESSAGE" | null; // what is offered to be logged when the user comes back
  label: string;
  text: string;
  url: string | null;
  action: string;
  children?: preact.ComponentChildren;
}

function Line({ person, name, kind, label, text, url, action, children }: LineProps) {
  const account = useAccount();
  const [isAway, setAway] = useState(false);
  useEffect(() => {
    if (!isAway || !kind) return;
    const back = () => {
      if (document.hidden) return;
      setAway(false);
      toast(t("Were you in touch with {name}?", { name }), () => logNow(account, person, kind), t("Log it"));
    };
    document.addEventListener("visibilitychange", back);
    return () => document.removeEventListener("visibilitychange", back);
  }, [isAway]);
  const isOutside = url?.startsWith("http");
  return (
    <li class="contact-line">
      <span class="soft small contact-label">{label}</span>
      <span class="contact-text">
        {url ? (
          <a href={url} aria-label={action} target={isOutside ? "_blank" : undefined} rel={isOutside ? "noreferrer" : undefined} onClick={() => kind && setAway(true)}>
            <bdi>{text}</bdi>
          </a>
        ) : (
          <bdi>{text}</bdi>
        )}
      </span>
      <span class="row no-print">
        {children}
        <button
          class="plain icon"
          aria-label={t("Copy {value}", { value: text })}
          onClick={async () => {
            await navigator.clipboard?.writeText(text);
            announce(t("Copied"));
            toast(t("Copied"));
          }}
        >
          <Icon name="copy" />
        </button>
      </span>
    </li>
  );
}

function LinkIcon({ icon, url, label }: { icon: IconName; url: string; label: string }) {
  return (
    <a class="button plain icon" href={url} aria-label={label}>
      <Icon name={icon} />
    </a>
  );
}

type ContactValues = { [F in ListField]: Entry[] };

export function ContactForm({ form, onlyList }: { form: Form<ContactValues>; onlyList?: ListField | undefined }) {
  const values = form.values.value;
  return (
    <>
      {CONTACT_FIELDS.filter((field) => !onlyList || field === onlyList).map((field) => (
        <EntryList key={field} field={field} entries={values[field]} errors={form.errors.value} onEntries={(entries) => form.set(field, entries)} />
      ))}
    </>
  );
}

interface ListProps {
  field: ListField;
  entries: Entry[];
  errors: Record<string, string>;
  onEntries: (entries: Entry[]) => void;
}

export function EntryList({ field, entries, errors, onEntries }: ListProps) {
  const { title, add, types, parts } = LISTS[field];
  const typeName = field === "imHandles" ? "protocol" : "type";
  const change = (index: number, name: string, value: string) =>
    onEntries(entries.map((entry, at) => (at === index ? { ...entry, [name]: value } : entry)));
  return (
    <fieldset class="entries">
      <legend>{t(title)}</legend>
      {entries.map((entry, index) => (
        <div class="entry" key={entry.id ?? `new ${index}`}>
          <SelectField
            label={t("Kind of {title} {number}", { title: t(title), number: index + 1 })}
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
          <button type="button" class="plain danger" onClick={() => onEntries(entries.filter((_, at) => at !== index))} aria-label={t("Remove {title} {number}", { title: t(title), number: index + 1 })}>
            <Icon name="trash" />
          </button>
        </div>
      ))}
      <button type="button" onClick={() => onEntries([...entries, { [typeName]: types[0] }])}>
        <Icon name="add" />
        {t(add)}
      </button>
    </fieldset>
  );
}

// Entries in which nothing was typed are left out.
export function filledEntries(field: ListField, entries: Entry[]): Entry[] {
  return entries.filter((entry) => LISTS[field].parts.some(({ name }) => String(entry[name] ?? "").trim() !== ""));
}
