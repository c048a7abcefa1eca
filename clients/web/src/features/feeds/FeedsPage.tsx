// Calendar feeds: addresses at which a calendar program reads the dates, without signing in.
import { useEffect, useRef, useState } from "preact/hooks";
import { connection, useAccount } from "../../app/session.ts";
import { timeInWords } from "../../i18n/days.ts";
import { formatList, LANGUAGES, t } from "../../i18n/index.ts";
import { useAttempt, useRemote } from "../../store/remote.ts";
import { confirm } from "../../ui/confirm.tsx";
import { CopyLine } from "../../ui/CopyLine.tsx";
import { hasDraft } from "../../ui/form.ts";
import { Empty } from "../../ui/Empty.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { lazy } from "../../ui/lazy.tsx";
import { Page } from "../../ui/Page.tsx";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { type Feed, FeedForm, feedKey } from "./FeedForm.tsx";
import "./feeds.css";

const QrCode = lazy(() => import("../../ui/QrCode.tsx"));

export default function FeedsPage() {
  const account = useAccount();
  const [found, reload] = useRemote("calendar feeds", async (signal) => (await connection.ask("GET", "/api/calendar-feeds", undefined, { signal }))["calendarFeeds"] as Feed[]);
  const [isAdding, setAdding] = useState(hasDraft(feedKey(account.id, null)));
  const [shown, setShown] = useState<{ id: string; url: string } | null>(null);
  const [problem, attempt] = useAttempt(reload);
  const rotate = async (feed: Feed) => {
    if (!(await confirm(t("A new address of {name}?", { name: feed.name }), t("The address of now ends. Every calendar that reads it needs the new one."), t("New address"), true))) return;
    await attempt(async () => setShown((await connection.ask("POST", `/api/calendar-feeds/${feed.id}/rotate`))["calendarFeed"]));
  };
  const remove = async (feed: Feed) => {
    if (!(await confirm(t("Delete {name}?", { name: feed.name }), t("Every calendar that reads it loses its dates."), t("Delete"), true))) return;
    await attempt(() => connection.ask("DELETE", `/api/calendar-feeds/${feed.id}`));
    if (shown?.id === feed.id) setShown(null);
  };
  return (
    <Page
      title={t("Calendar subscriptions")}
      back="/settings"
      width="form"
      actions={
        !isAdding && (
          <button class="main" onClick={() => setAdding(true)}>
            <Icon name="add" />
            {t("New subscription")}
          </button>
        )
      }
    >
      <p>{t("A calendar program that subscribes to such an address shows the dates of your people. Whoever has the address reads them.")}</p>
      <ProblemNote problem={problem ?? found.value.problem} onRetry={() => void reload()} />
      {isAdding && (
        <FeedForm
          feed={null}
          onClose={() => setAdding(false)}
          onSaved={(made) => {
            setShown(made);
            void reload();
          }}
        />
      )}
      {shown && <Address key={shown.url} url={shown.url} onClose={() => setShown(null)} />}
      {found.value.data?.length === 0 && !isAdding && <Empty kind="date"><p>{t("No calendar reads along yet.")}</p></Empty>}
      {found.value.data?.map((feed) => <FeedCard key={feed.id} feed={feed} onChanged={() => void reload()} onRotate={() => void rotate(feed)} onRemove={() => void remove(feed)} />)}
    </Page>
  );
}

function Address({ url, onClose }: { url: string; onClose: () => void }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <section class="card stack" aria-labelledby="feed-address">
      <h2 id="feed-address" tabIndex={-1} ref={heading}>{t("Address of the subscription")}</h2>
      <p class="banner warning">{t("It is shown this once. Subscribe to it in a calendar program, by its address or by the QR code.")}</p>
      <dl><CopyLine label={t("Address")} value={url} /></dl>
      <QrCode text={url} label={t("QR code with the address of the subscription")} />
      <div><button class="main" onClick={onClose}>{t("I have kept it")}</button></div>
    </section>
  );
}

interface CardProps {
  feed: Feed;
  onChanged: () => void;
  onRotate: () => void;
  onRemove: () => void;
}

function FeedCard({ feed, onChanged, onRotate, onRemove }: CardProps) {
  const account = useAccount();
  const { name, kinds, groupIds, alarms, language, lastReadAt } = feed;
  const [isEditing, setEditing] = useState(hasDraft(feedKey(account.id, feed)));
  const groups = groupIds.map((id) => account.groups.byId.value.get(id)?.name ?? t("A group in the trash"));
  const content = [
    kinds.includes("important_date") && t("Birthdays and other dates"),
    kinds.includes("contact") && t("Whom to get in touch with"),
    groups.length ? t("In {groups}", { groups: formatList(groups) }) : t("Everybody"),
    alarms && t("alarms"),
    LANGUAGES[language as keyof typeof LANGUAGES],
  ];
  return (
    <section class="card stack tight" aria-label={name}>
      <h2><bdi>{name}</bdi></h2>
      {isEditing ? (
        <FeedForm feed={feed} onSaved={onChanged} onClose={() => setEditing(false)} />
      ) : (
        <>
          <p>
            {lastReadAt ? t("Last read {when}", { when: timeInWords(lastReadAt, account.settings.value.timezone) }) : t("Not read yet")}
            <span class="soft small block">{content.filter(Boolean).join(" · ")}</span>
          </p>
          <div class="row">
            <button onClick={() => setEditing(true)} aria-label={t("Change {name}", { name })}>{t("Change")}</button>
            <button onClick={onRotate} aria-label={t("New address of {name}", { name })}>{t("New address")}</button>
            <button class="danger" onClick={onRemove} aria-label={t("Delete {name}", { name })}>{t("Delete")}</button>
          </div>
        </>
      )}
    </section>
  );
}
