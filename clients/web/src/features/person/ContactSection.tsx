// How to reach a person: every number, address and handle is a link, with a copy.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { useAccount } from "../../app/session.ts";
import { formatList, t } from "../../i18n/index.ts";
import type { PersonRow } from "../../store/people.ts";
import { announce } from "../../ui/announce.ts";
import { breakable } from "../../ui/breakable.tsx";
import { Icon, type IconName } from "../../ui/Icon.tsx";
import { toast } from "../../ui/toast.tsx";
import { mailUrl, messengerUrl, smsUrl, telUrl, webUrl } from "../people/reach.ts";
import { Lock } from "../sharing/Lock.tsx";
import type { PrivateField } from "../sharing/shares.ts";
import { mapUrl } from "./addresses.ts";
import { addressInWords, type Entry, type Person, typeLabel } from "./entries.ts";
import { offerLog } from "./interactions.ts";

const MAX_SHARERS = 3; // who are named

export function ContactSection({ person, name }: { person: Person; name: string }) {
  const shared = { person, name };
  const { people } = useAccount();
  const sharers = useMemo(() => sharersOf(person, people.value), [person, people.value]);
  return (
    <ul class="card flush lines reach-lines">
      {person.phoneNumbers.map((entry) => {
        const [url, sms] = [telUrl(entry.number), smsUrl(entry.number)];
        return (
          <Line key={entry.id} {...shared} kind="CALL" field="phoneNumbers" label={typeLabel(entry.type)} text={entry.number} url={url} action={t("Call {name}: {value}", { name, value: entry.number })}>
            {sms && <LinkIcon icon="message" url={sms} label={t("Write {name} a message: {value}", { name, value: entry.number })} />}
          </Line>
        );
      })}
      {person.emails.map(({ id, email, type }) => (
        <Line key={id} {...shared} kind="EMAIL" field="emails" label={typeLabel(type)} text={email} url={mailUrl(email)} action={t("Write {name} an e-mail: {value}", { name, value: email })} />
      ))}
      {person.imHandles.map(({ id, handle, protocol }) => (
        <Line key={id} {...shared} kind="MESSAGE" label={typeLabel(protocol)} text={handle} url={messengerUrl(protocol, handle)} action={t("Write {name} a message: {value}", { name, value: handle })} />
      ))}
      {person.addresses.map((entry) => {
        const lines = addressInWords(entry as Entry);
        const others = sharers.get(entry.id) ?? [];
        const also = others.length ? t("also {names}", { names: formatList(others) }) : "";
        return (
          <Line key={entry.id} {...shared} kind={null} field="addresses" label={[typeLabel(entry.type), also].filter(Boolean).join(" · ")} text={lines.join("\n")} url={mapUrl(entry as Entry)} action={t("Show the address of {name} on a map: {value}", { name, value: lines.join(" ") })} />
        );
      })}
      {person.urls.map(({ id, url, type }) => (
        <Line key={id} {...shared} kind={null} label={typeLabel(type)} text={url} url={webUrl(url)} action={t("Open the page of {name}: {value}", { name, value: url })} />
      ))}
    </ul>
  );
}

// The names of the others with the same address, by the ids of this person's entries.
function sharersOf({ id, addresses }: Person, people: PersonRow[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const own = people.find((row) => row.id === id)?.places ?? [];
  for (const { id: entry, streetLine1 } of addresses) {
    const label = own.find((place) => place.id === entry)?.label.toLowerCase();
    if (!streetLine1 || !label) continue;
    const others = people.filter((row) => row.id !== id && row.places.some((place) => place.label.toLowerCase() === label));
    if (others.length) found.set(entry, [...others.slice(0, MAX_SHARERS).map((row) => row.name), ...(others.length > MAX_SHARERS ? ["…"] : [])]);
  }
  return found;
}

interface LineProps {
  person: Person;
  name: string;
  kind: "CALL" | "EMAIL" | "MESSAGE" | null; // what is offered to be logged when the user comes back
  field?: PrivateField; // that may stay with the user
  label: string;
  text: string;
  url: string | null;
  action: string;
  children?: ComponentChildren;
}

function Line({ person, name, kind, field, label, text, url, action, children }: LineProps) {
  const account = useAccount();
  const isOutside = url?.startsWith("http");
  const copy = async () => {
    await navigator.clipboard?.writeText(text);
    announce(t("Copied"));
    toast(t("Copied"));
  };
  return (
    <li class="reach-line">
      <span class="grow">
        {url ? (
          <a class="value" href={url} aria-label={action} target={isOutside ? "_blank" : undefined} rel={isOutside ? "noreferrer" : undefined} onClick={() => kind && offerLog(account, { id: person.id, name }, kind)}>
            <span class="block" dir="auto">
              {breakable(text)}
            </span>
          </a>
        ) : (
          <span class="value" dir="auto">
            {breakable(text)}
          </span>
        )}
        <span class="soft label">{label} {field && <Lock person={person} field={field} />}</span>
      </span>
      <span class="row tight nowrap no-print">
        {children}
        <button class="plain icon" aria-label={t("Copy {value}", { value: text })} onClick={() => void copy()}>
          <Icon name="copy" size={18} />
        </button>
      </span>
    </li>
  );
}

function LinkIcon({ icon, url, label }: { icon: IconName; url: string; label: string }) {
  return (
    <a class="button plain icon" href={url} aria-label={label}>
      <Icon name={icon} size={18} />
    </a>
  );
}
