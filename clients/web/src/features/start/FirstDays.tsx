// What makes the first days good: people, reminders, the phone, a window of its own, a second device. A step that is done
// leaves; the list leaves with the fourth of them, after two weeks, or when it is hidden.
import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { openAdd } from "../../app/box.ts";
import { href } from "../../app/router.ts";
import { connection, useAccount } from "../../app/session.ts";
import { daysBetween, dayOf, today } from "../../i18n/days.ts";
import { formatNumber, t } from "../../i18n/index.ts";
import { bodiesOf, useRemote } from "../../store/remote.ts";
import { TextField } from "../../ui/Field.tsx";
import { Icon, type IconName } from "../../ui/Icon.tsx";
import { canBeInstalled, install, installPrompt, isInstalled } from "./install.ts";

const ENOUGH = 4; // steps that are done
const MAX_DAYS = 14;

type StepName = "people" | "reminders" | "phone" | "install" | "device";

interface FirstDaysState {
  isRead: boolean;
  isWanted: boolean;
  done: Partial<Record<StepName, boolean>>; // one that is not known is not shown
  hide: () => void;
}

export function useFirstDays(): FirstDaysState {
  const account = useAccount();
  const { createdAt, timezone } = account.settings.value;
  const key = `draft ${account.id} first days hidden`; // removed with the drafts when the account leaves this browser
  const [isHidden, setHidden] = useState(localStorage.getItem(key) !== null);
  const isYoung = createdAt !== undefined && daysBetween(dayOf(createdAt, timezone), today(timezone)) <= MAX_DAYS;
  const isAsked = isYoung && !isHidden;
  const [found] = useRemote(`first days ${isAsked}`, async (signal) => (isAsked ? readDone(signal) : {}));
  const { data, problem } = found.value;
  const done = { people: account.people.value.length > 0, ...(canBeInstalled && { install: isInstalled.value }), ...data };
  const hide = () => {
    localStorage.setItem(key, "1");
    setHidden(true);
  };
  return {
    isRead: createdAt !== undefined && (!isAsked || data !== undefined || problem !== null),
    isWanted: isAsked && Object.values(done).filter(Boolean).length < ENOUGH,
    done,
    hide,
  };
}

async function readDone(signal: AbortSignal): Promise<Partial<Record<StepName, boolean>>> {
  const paths = ["/api/notifications/channels", "/api/user/devices", "/api/user/sessions"];
  const operations = paths.map((path) => ({ method: "GET", path }));
  const [{ results }, { mail }] = await Promise.all([
    connection.ask("POST", "/api/batch", { operations }, { signal }),
    connection.ask("GET", "/api/instance", undefined, { signal }),
  ]);
  const [channels, { devices }, { sessions }] = bodiesOf(results);
  return {
    // A mail that does not leave this instance reminds nobody.
    reminders: (mail && channels["email"].enabled) || channels["push"].devices > 0 || channels["endpoints"] > 0,
    phone: devices.length > 0,
    device: sessions.length > 1,
  };
}

export function FirstDays({ isWanted, done, hide, isEmpty }: FirstDaysState & { isEmpty: boolean }) {
  if (!isWanted) return null;
  const count = Object.values(done).filter(Boolean).length;
  return (
    <section class="card flush first-days" aria-label={t("The first days")}>
      <header class="row apart">
        <h2>{isEmpty ? t("Small steps, in any order") : t("The first days")}</h2>
        <span class="row">
          {count > 0 && <span class="soft small">{t("{count} of {total} done", { count: formatNumber(count), total: formatNumber("install" in done ? 5 : 4) })}</span>}
          <button class="plain" onClick={hide}>{t("Hide")}</button>
        </span>
      </header>
      <ol class="lines">
        {done.people === false && (
          <Step icon="people" title={t("Bring the people you have")} text={t("From a phone, Google, Outlook, Nextcloud or a file. You see what happens before it does.")}>
            <a class="button main" href={href("/import")}>{t("Bring them")}</a>
          </Step>
        )}
        {done.reminders === false && (
          <Step icon="bell" title={t("Be reminded")} text={t("Of birthdays, and of those you have not spoken to for too long.")}>
            <a class="button" href={href("/notifications")}>{t("Choose how")}</a>
          </Step>
        )}
        {done.phone === false && (
          <Step icon="phone" title={t("Put them on your phone")} text={t("Names on incoming calls, birthdays in the calendar.")}>
            <a class="button" href={href("/devices")}>{t("Connect")}</a>
          </Step>
        )}
        {done.install === false && (
          <Step icon="device" title={t("Install it")} text={installPrompt.value ? t("Its own window, and it works without a network.") : t("Its own window, and it works without a network: \"Install\" or \"Add to home screen\" in the browser's menu, on an iPhone below \"Share\".")}>
            {installPrompt.value && <button onClick={() => void install()}>{t("Install")}</button>}
          </Step>
        )}
        {done.device === false && (
          <Step icon="swap" title={t("Open it on a second device")} text={t("Sign in at {address} there, too. All is the same in both places.", { address: location.host })} />
        )}
      </ol>
    </section>
  );
}

// For an account without people: begin with one, and what this page will be.
export function FirstPerson() {
  const [text, setText] = useState("");
  const add = (event: Event) => {
    event.preventDefault();
    openAdd(text);
  };
  return (
    <form class="card first-person" onSubmit={add}>
      <TextField label={t("Or begin with one person")} value={text} onValue={setText} autocomplete="off" placeholder={t("Anna Berg, 0170 555 01 22, sister of Ben")} hint={t("Name, number, mail, birthday, in one line: each finds its place.")} />
      <span class="row">
        <button>{t("Add")}</button>
        <a class="button plain" href={href("/people/new")}>{t("With a form")}</a>
      </span>
    </form>
  );
}

const TIES = [[26, 62, 72, 34], [72, 34, 128, 58], [26, 62, 62, 82], [128, 58, 190, 30], [128, 58, 182, 78], [190, 30, 234, 56]] as const;
const DOTS = [[26, 62, 8, "note"], [72, 34, 10, "touch"], [62, 82, 6, "date"], [190, 30, 10, "date"], [182, 78, 7, "tie"], [234, 56, 8, "note"], [128, 58, 15, "accent"]] as const;

export function FirstPicture() {
  return (
    <section class="card first-picture">
      <svg viewBox="0 0 260 100" aria-hidden="true">
        {TIES.map(([x1, y1, x2, y2]) => <line key={`${x1} ${x2}`} x1={x1} y1={y1} x2={x2} y2={y2} />)}
        {DOTS.map(([cx, cy, r, kind]) => <circle key={cx} cx={cx} cy={cy} r={r} class={`kind-${kind}`} fill="var(--kind)" />)}
      </svg>
      <h2>{t("Today is your start")}</h2>
      <p class="soft small">{t("Birthdays, people to get in touch with and what needs a decision will be here. On quiet days, nothing: that is fine.")}</p>
    </section>
  );
}

function Step({ icon, title, text, children }: { icon: IconName; title: string; text: string; children?: ComponentChildren }) {
  return (
    <li class="step">
      <span class="tile kind-accent">
        <Icon name={icon} size={18} />
      </span>
      <span class="step-text">
        <b>{title}</b>
        <span class="soft small block">{text}</span>
      </span>
      {children && <span class="row">{children}</span>}
    </li>
  );
}
