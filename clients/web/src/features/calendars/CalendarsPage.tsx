// The calendars that are read: added, changed, removed; how each stands.
import { useEffect, useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { connection, useAccount } from "../../app/session.ts";
import { t, tn } from "../../i18n/index.ts";
import { useAttempt, useRemote } from "../../store/remote.ts";
import { confirm } from "../../ui/confirm.tsx";
import { hasDraft } from "../../ui/form.ts";
import { Empty } from "../../ui/Empty.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Page } from "../../ui/Page.tsx";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { SourceForm, sourceKey } from "./SourceForm.tsx";
import { calendarsInWords, hostOf, lastReadInWords, nextReadInWords, type Source, stateInWords } from "./words.ts";
import "./calendars.css";

const MAX_CALENDARS = 10;
const LOOK_EACH_MILLISECONDS = 2_000;
const LOOK_MILLISECONDS = 60_000; // after something was asked for

export default function CalendarsPage() {
  const account = useAccount();
  const [found, reload] = useRemote("calendars", async (signal) => (await connection.ask("GET", "/api/calendar-sources", undefined, { signal }))["calendarSources"] as Source[]);
  const sources = found.value.data;
  const [isAdding, setAdding] = useState(hasDraft(sourceKey(account.id, null)));
  const [problem, attempt] = useAttempt(reload);
  const [lookUntil, setLookUntil] = useState(Date.now() + LOOK_MILLISECONDS);
  // While one is read the page follows.
  const isUnderWay = sources?.some(({ state, url, nextReadAt }) => url && (state === "new" || state === "reading" || (nextReadAt !== null && Date.parse(nextReadAt) <= Date.now()))) ?? false;
  useEffect(() => {
    if (!isUnderWay) return;
    const timer = setInterval(() => (Date.now() < lookUntil ? !document.hidden && void reload() : clearInterval(timer)), LOOK_EACH_MILLISECONDS);
    return () => clearInterval(timer);
  }, [isUnderWay, lookUntil]);
  const look = async () => {
    setLookUntil(Date.now() + LOOK_MILLISECONDS);
    await reload();
  };
  const read = async (source: Source) => {
    await attempt(() => connection.ask("POST", `/api/calendar-sources/${source.id}/read`));
    setLookUntil(Date.now() + LOOK_MILLISECONDS);
  };
  const remove = async (source: Source) => {
    if (!(await confirm(t("Remove {name}?", { name: source.name }), t("What was logged stays. What it asks about goes, and it is not read any more."), t("Remove"), true))) return;
    await attempt(() => connection.ask("DELETE", `/api/calendar-sources/${source.id}`));
    account.syncer.syncNow();
  };
  return (
    <Page
      title={t("Calendars")}
      back="/settings"
      width="form"
      actions={
        !isAdding && sources && sources.length < MAX_CALENDARS && (
          <button class="main" onClick={() => setAdding(true)}>
            <Icon name="add" />
            {t("Add a calendar")}
          </button>
        )
      }
    >
      <p>{t("Your calendar knows whom you met. Once a meeting with one of your people is over, Today asks whether to log it. Nothing is written unasked, and nothing else of the calendar is kept.")}</p>
      <ProblemNote problem={problem?.code === "rate_limited" ? { ...problem, text: t("It was asked for less than a minute ago.") } : (problem ?? found.value.problem)} onRetry={() => void reload()} />
      {isAdding && <SourceForm source={null} onSaved={look} onClose={() => setAdding(false)} />}
      {sources?.length === 0 && !isAdding && <Empty kind="touch"><p>{t("No calendar is read yet.")}</p></Empty>}
      {sources && sources.length >= MAX_CALENDARS && <p class="soft small">{t("These are as many as there can be.")}</p>}
      {sources?.map((source) => <SourceCard key={source.id} source={source} onChanged={look} onRead={() => void read(source)} onRemove={() => void remove(source)} />)}
    </Page>
  );
}

interface CardProps {
  source: Source;
  onChanged: () => Promise<void>;
  onRead: () => void;
  onRemove: () => void;
}

function SourceCard({ source, onChanged, onRead, onRemove }: CardProps) {
  const account = useAccount();
  const { timezone } = account.settings.value;
  const { name, url, state, proposals, brokenEvents } = source;
  const [isEditing, setEditing] = useState(hasDraft(sourceKey(account.id, source)));
  const isFailing = state === "failing";
  const lines = [
    isFailing && lastReadInWords(source, timezone),
    isFailing && nextReadInWords(source, timezone),
    url && hostOf(url), // what follows may be a secret
    source.username,
    calendarsInWords(source),
    brokenEvents > 0 && tn("{count} entry in it cannot be read and is left out", "{count} entries in it cannot be read and are left out", brokenEvents),
  ];
  return (
    <section class="card stack tight" aria-label={name}>
      <h2><bdi>{name}</bdi></h2>
      {isEditing ? (
        <SourceForm source={source} onSaved={onChanged} onClose={() => setEditing(false)} />
      ) : (
        <>
          <p class={isFailing ? "banner warning" : ""} role="status">{stateInWords(source, timezone)}</p>
          <p class="soft small">{lines.filter(Boolean).join(" · ")}</p>
          <div class="row">
            {proposals > 0 && <a class="button tint" href={href("/meetings")}>{tn("{count} meeting to log", "{count} meetings to log", proposals)}</a>}
            <button onClick={onRead} disabled={!url || state === "reading"} aria-label={`${t("Read now")}: ${name}`}>{t("Read now")}</button>
            <button onClick={() => setEditing(true)} aria-label={t("Change {name}", { name })}>{t("Change")}</button>
            <button class="danger" onClick={onRemove} aria-label={t("Remove {name}", { name })}>{t("Remove")}</button>
          </div>
        </>
      )}
    </section>
  );
}
