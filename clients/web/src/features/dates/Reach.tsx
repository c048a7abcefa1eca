// Call, write, mail: each opens what the device has for it. Keys of a page press the one that has its letter in `data-key`.
import { useState } from "preact/hooks";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { Icon, type IconName } from "../../ui/Icon.tsx";
import { Menu, type MenuItem } from "../../ui/Menu.tsx";
import { follow, mailUrl, type MessageWay, messageWays, setUsual, telUrl, usual } from "../people/reach.ts";
import type { Person } from "../person/entries.ts";
import type { Kind } from "../person/interactions.ts";
import { rememberReached } from "./touches.ts";

interface Props {
  person: Person | undefined; // until it is read there are no buttons
  name: string;
  isCallAlone?: boolean; // on a phone the others are in a menu: writeItems
  isWordy?: boolean; // with the words beside the icons, and with the mail beside the message
}

export function Reach({ person, name, isCallAlone = false, isWordy = false }: Props) {
  const account = useAccount();
  const [, rememberedAgain] = useState(0);
  if (!person) return null;
  const usualFirst = <T,>(all: readonly T[], kind: "call" | "mail", valueOf: (entry: T) => string) => {
    const known = usual(account.id, person.id, kind);
    return all.find((entry) => valueOf(entry) === known) ?? all[0];
  };
  const number = usualFirst(person.phoneNumbers, "call", (entry) => entry.number)?.number;
  const call = number ? telUrl(number) : null;
  const mail = usualFirst(person.emails, "mail", ({ email }) => email)?.email;
  const ways = messageWays(person);
  const way = usualWay(account.id, person.id, ways);
  const choose = (chosen: MessageWay) => {
    setUsual(account.id, person.id, "message", chosen.key);
    localStorage.setItem(lastKey(account.id), chosen.by);
    rememberReached(person.id, "MESSAGE");
    rememberedAgain((before) => before + 1);
    follow(chosen.url);
  };
  const style = isWordy ? "button" : "button plain icon";
  const write = t("Write to {name}", { name });
  const link = (url: string, letter: string, icon: IconName, label: string, text: string, kind: "CALL" | "MESSAGE" | "EMAIL", look = style) => (
    <a
      class={`${look} no-print`}
      href={url}
      data-key={letter}
      aria-label={label}
      onClick={() => rememberReached(person.id, kind)}
      {...(url.startsWith("http") && { target: "_blank", rel: "noreferrer" })}
    >
      <Icon name={icon} size={18} />
      {isWordy && text}
    </a>
  );
  return (
    <>
      {way && !isCallAlone && link(way.url, "w", "message", `${write}: ${way.by}`, t("Write|to somebody"), "MESSAGE")}
      {!way && !isCallAlone && ways.length > 0 && (
        <Menu label={write} letter="w" class={`${style} no-print`} items={ways.map((each) => ({ label: `${each.by} · ${each.value}`, onSelect: () => choose(each) }))}>
          <Icon name="message" size={18} />
          {isWordy && t("Write|to somebody")}
        </Menu>
      )}
      {call && link(call, "c", "phone", t("Call {name}: {value}", { name, value: number! }), t("Call|somebody"), "CALL", isWordy ? style : "button tint icon")}
      {mail && !isCallAlone && (isWordy || ways.length === 0) && link(mailUrl(mail), ways.length ? "m" : "w", "mail", t("Mail to {name}: {value}", { name, value: mail }), t("Mail|to somebody"), "EMAIL")}
    </>
  );
}

// All ways to write, for a menu.
export function writeItems(account: { id: string }, person: Person | undefined): MenuItem[] {
  if (!person) return [];
  const go = (url: string, kind: Kind) => () => {
    rememberReached(person.id, kind);
    follow(url);
  };
  return [
    ...messageWays(person).map(({ key, by, value, url }) => ({
      label: `${by} · ${value}`,
      onSelect: () => {
        setUsual(account.id, person.id, "message", key);
        go(url, "MESSAGE")();
      },
    })),
    ...person.emails.map(({ email }) => ({ label: `${t("Mail|to somebody")} · ${email}`, onSelect: go(mailUrl(email), "EMAIL") })),
  ];
}

const lastKey = (accountId: string) => `usual ${accountId} message`; // by which messenger somebody was written to last

// By which somebody is written to without asking: as this person was last, or anybody; or the only one.
function usualWay(accountId: string, personId: string, ways: MessageWay[]): MessageWay | undefined {
  if (ways.length === 1) return ways[0];
  const known = usual(accountId, personId, "message");
  const by = localStorage.getItem(lastKey(accountId));
  return ways.find(({ key }) => key === known) ?? ways.find((way) => way.by === by);
}
