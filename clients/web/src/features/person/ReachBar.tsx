// Call, message, mail, map, log: what is done with a person most, as five equal tiles.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { Icon, type IconName } from "../../ui/Icon.tsx";
import { Menu } from "../../ui/Menu.tsx";
import { follow, mailUrl, messageWays, setUsual, telUrl, usual, type UsualKind } from "../people/reach.ts";
import { addressLines, mapUrl } from "./addresses.ts";
import { type Entry, type Person, typeLabel } from "./entries.ts";
import { offerLog } from "./interactions.ts";

interface Props {
  person: Person;
  name: string;
  onMissing: (list: "phoneNumbers" | "emails" | "addresses") => void; // opens the form of what there is none of
  onLog: () => void;
}

interface Way {
  value: string; // by which it is remembered
  label: string; // in the menu of several
  url: string;
}

export function ReachBar({ person, name, onMissing, onLog }: Props) {
  const account = useAccount();
  const [, rememberedAgain] = useState(0);
  const go = (kind: UsualKind, logged: "CALL" | "MESSAGE" | "EMAIL", { value }: Way) => {
    setUsual(account.id, person.id, kind, value);
    rememberedAgain((before) => before + 1);
    offerLog(account, { id: person.id, name }, logged);
  };
  const usualFirst = (kind: UsualKind, ways: Way[]) => {
    const known = usual(account.id, person.id, kind);
    return [...ways.filter(({ value }) => value === known), ...ways.filter(({ value }) => value !== known)];
  };
  const calls = usualFirst("call", person.phoneNumbers.flatMap(({ number, type }) => {
    const url = telUrl(number);
    return url ? [{ value: number, label: `${number} · ${typeLabel(type)}`, url }] : [];
  }));
  const mails = usualFirst("mail", person.emails.map(({ email, type }) => ({ value: email, label: `${email} · ${typeLabel(type)}`, url: mailUrl(email) })));
  const ways = messageWays(person).map(({ key, by, value, url }) => ({ value: key, label: `${by} · ${value}`, url }));
  const remembered = ways.find(({ value }) => value === usual(account.id, person.id, "message"));
  const places = person.addresses.flatMap((entry) => {
    const lines = addressLines(entry as Entry);
    return lines.length ? [{ value: entry.id, label: lines.join(", "), url: mapUrl(entry as Entry) }] : [];
  });
  return (
    <nav class="reach no-print" aria-label={t("Reach {name}", { name })}>
      <Tile name="call" icon="phone" label={t("Call|somebody")} ways={calls} missing={t("add a number")} onMissing={() => onMissing("phoneNumbers")} onGo={(way) => go("call", "CALL", way)} of={name} />
      <Tile name="message" icon="message" label={t("Message|to somebody")} ways={remembered ? [remembered] : ways} missing={t("add a number")} onMissing={() => onMissing("phoneNumbers")} onGo={(way) => go("message", "MESSAGE", way)} of={name} />
      <Tile name="mail" icon="mail" label={t("Mail|to somebody")} ways={mails} missing={t("add an address of mail")} onMissing={() => onMissing("emails")} onGo={(way) => go("mail", "EMAIL", way)} of={name} />
      <Tile name="map" icon="location" label={t("Map|of an address")} ways={places} missing={t("add an address")} onMissing={() => onMissing("addresses")} onGo={() => undefined} of={name} />
      <span data-reach="log">
        <button class="reach-tile log" onClick={onLog}>
          <Icon name="log" />
          {t("Log|a contact")}
        </button>
      </span>
    </nav>
  );
}

interface TileProps {
  name: string;
  icon: IconName;
  label: string;
  of: string; // the name of the person
  ways: Way[];
  missing: string;
  onMissing: () => void;
  onGo: (way: Way) => void;
}

function Tile({ name, icon, label, of, ways, missing, onMissing, onGo }: TileProps) {
  const [only] = ways;
  const shown: ComponentChildren = (
    <>
      <Icon name={icon} />
      {label}
    </>
  );
  const isOutside = only?.url.startsWith("http");
  return (
    <span data-reach={name}>
      {!only ? (
        <button class="reach-tile unknown" onClick={onMissing}>
          {shown}
          <span class="hidden-text">: {missing}</span>
        </button>
      ) : ways.length === 1 ? (
        <a class="reach-tile" href={only.url} onClick={() => onGo(only)} {...(isOutside && { target: "_blank", rel: "noreferrer" })}>
          {shown}
          <span class="hidden-text">{` ${of}`}</span>
        </a>
      ) : (
        <Menu
          class="reach-tile"
          label={`${label} ${of}`}
          items={ways.map((way) => ({
            label: way.label,
            onSelect: () => {
              onGo(way);
              follow(way.url);
            },
          }))}
        >
          {shown}
        </Menu>
      )}
    </span>
  );
}

// Does what a tile does, for its key.
export function pressTile(name: string): void {
  document.querySelector<HTMLElement>(`[data-reach="${name}"] > :is(a, button)`)?.click();
}
