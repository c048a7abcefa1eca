// Over which channels the account is told, when, what was sent and what will be.
import type { components } from "contacts-client";
import { useEffect, useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { connection, useAccount } from "../../app/session.ts";
import { formatDay, hourInWords, timeInWords } from "../../i18n/days.ts";
import { formatNumber, t, tn } from "../../i18n/index.ts";
import { useAttempt, useRemote } from "../../store/remote.ts";
import { confirm } from "../../ui/confirm.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { Check, TextField } from "../../ui/Field.tsx";
import { hasDraft, useForm } from "../../ui/form.ts";
import { Page } from "../../ui/Page.tsx";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { toast } from "../../ui/toast.tsx";
import { browserName } from "../account/SecurityPage.tsx";
import { type Endpoint, EndpointForm, endpointKey } from "./EndpointForm.tsx";
import { canPush, ownEndpoint, subscribeThisBrowser, unsubscribeThisBrowser } from "./push.ts";
import { channelInWords, noticeInWords, reasonInWords, stateInWords } from "./words.ts";

type Schemas = components["schemas"];

export default function NotificationsPage() {
  const channels = useChannels();
  const { data, problem } = channels[0].value;
  return (
    <Page title={t("Notifications")}>
      <Email channels={channels} />
      <Devices channels={channels} />
      {/* Not before those above have their height: a tap would meet what has just moved under the finger. */}
      {(data || problem) && (
        <>
          <Endpoints />
          <Times />
          <Upcoming />
          <History />
        </>
      )}
    </Page>
  );
}

async function test(path: string): Promise<void> {
  const { ok, code } = await connection.ask("POST", `${path}/test`);
  toast(ok ? t("The test has arrived.") : reasonInWords(code));
}

type Channels = ReturnType<typeof useChannels>;

// The channels and their states, asked for once for the sections that show them.
function useChannels() {
  return useRemote("channels", (signal) => connection.ask("GET", "/api/notifications/channels", undefined, { signal }));
}

function Email({ channels: [found, reload] }: { channels: Channels }) {
  const account = useAccount();
  const [problem, attempt] = useAttempt(reload);
  const { data } = found.value;
  return (
    <section class="card stack tight">
      <h2>{t("E-mail")}</h2>
      <ProblemNote problem={problem ?? found.value.problem} />
      {data && <Check label={t("Reminders by e-mail, to {address}", { address: account.settings.value.email })} isChecked={data["email"].enabled} onChange={(enabled) => void attempt(() => connection.ask("PUT", "/api/notifications/email", { enabled }))} />}
    </section>
  );
}

function Devices({ channels: [channels] }: { channels: Channels }) {
  const account = useAccount();
  const { settings } = account;
  const [found, reload] = useRemote("push devices", async (signal) => {
    const [{ subscriptions }, own] = await Promise.all([
      connection.ask("GET", "/api/notifications/push/subscriptions", undefined, { signal }),
      ownEndpoint(),
    ]);
    return { devices: subscriptions as Schemas["PushDevice"][], own };
  });
  const [problem, attempt] = useAttempt(reload);
  const { data } = found.value;
  const isConfigured: boolean | undefined = channels.value.data?.["push"].configured;
  const subscribe = () =>
    attempt(async () => {
      const isDone = await subscribeThisBrowser(account.id);
      toast(isDone ? t("This browser is told from now on.") : t("The browser does not allow it. Look at its settings of this site."));
    });
  const remove = (device: Schemas["PushDevice"]) =>
    attempt(async () => {
      await connection.ask("DELETE", `/api/notifications/push/subscriptions/${device.id}`);
      if (device.endpoint === data?.own) await unsubscribeThisBrowser();
    });
  const isHere = data?.devices.some(({ endpoint }) => endpoint === data.own);
  return (
    <section class="card stack tight">
      <div class="row apart">
        <h2>{t("Devices")}</h2>
        {isConfigured && data && canPush() && !isHere && <button onClick={() => void subscribe()}>{t("Tell this browser")}</button>}
      </div>
      <ProblemNote problem={problem ?? found.value.problem} />
      {isConfigured === false && <p class="soft">{t("This service has no keys for push.")}</p>}
      {data && !canPush() && <p class="soft">{t("This browser cannot receive push messages. On an iPhone, put the client on the home screen first.")}</p>}
      {data?.devices.length === 0 && <p class="soft">{t("No device receives push messages.")}</p>}
      <ul class="plain-lines">
        {data?.devices.map((device) => {
          const name = browserName(device.userAgent);
          return (
            <li key={device.id} class="row apart">
              <span>
                {name}
                {device.endpoint === data.own && <strong> · {t("this browser")}</strong>}
                {device.lastSuccessAt && <span class="soft small block">{t("Last reached {when}", { when: timeInWords(device.lastSuccessAt, settings.value.timezone) })}</span>}
              </span>
              <span class="row">
                <button onClick={() => void attempt(() => test(`/api/notifications/push/subscriptions/${device.id}`))} aria-label={t("Test {name}", { name })}>{t("Test")}</button>
                <button class="danger" onClick={() => void remove(device)} aria-label={t("Remove {name}", { name })}>{t("Remove")}</button>
              </span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Endpoints() {
  const account = useAccount();
  const { settings } = account;
  const [found, reload] = useRemote("endpoints", async (signal) => (await connection.ask("GET", "/api/notifications/endpoints", undefined, { signal }))["endpoints"] as Endpoint[]);
  const [problem, attempt] = useAttempt(reload);
  const [isAdding, setAdding] = useState(hasDraft(endpointKey(account.id, null)));
  const [changedId, setChangedId] = useState<string | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const changed = found.value.data?.find((endpoint) => endpoint.id === changedId);
  useEffect(() => {
    // One that was being changed when the page was left.
    const left = found.value.data?.find((endpoint) => hasDraft(endpointKey(account.id, endpoint)));
    if (left && !isAdding) setChangedId(left.id);
  }, [found.value.data === undefined]);
  const remove = async (endpoint: Endpoint) => {
    if (!(await confirm(t("Delete {name}?", { name: endpoint.label }), t("Nothing more is sent there. A secret cannot be had again."), t("Delete"), true))) return;
    await attempt(() => connection.ask("DELETE", `/api/notifications/endpoints/${endpoint.id}`));
  };
  const close = () => {
    setAdding(false);
    setChangedId(null);
  };
  const rotate = (endpoint: Endpoint) => attempt(async () => setSecret((await connection.ask("PUT", `/api/notifications/endpoints/${endpoint.id}`, { rotateSecret: true }))["secret"]));
  return (
    <section class="card stack tight">
      <div class="row apart">
        <h2>{t("ntfy and webhooks")}</h2>
        <button onClick={() => setAdding(true)}>{t("New destination")}</button>
      </div>
      <ProblemNote problem={problem ?? found.value.problem} />
      {found.value.data?.length === 0 && <p class="soft">{t("There is none yet.")}</p>}
      <ul class="plain-lines">
        {found.value.data?.map((endpoint) => (
          <li key={endpoint.id} class="stack tight">
            <span>
              <bdi><strong>{endpoint.label}</strong></bdi> <span class="soft small">{channelInWords(endpoint.type)} · {endpoint.url}</span>
              <span class="soft small block">{stateOf(endpoint, settings.value.timezone)}</span>
            </span>
            <span class="row">
              <Check label={t("{name} is on", { name: endpoint.label })} isChecked={endpoint.enabled} onChange={(enabled) => void attempt(() => connection.ask("PUT", `/api/notifications/endpoints/${endpoint.id}`, { enabled }))} />
              <button onClick={() => setChangedId(endpoint.id)} aria-label={t("Change {name}", { name: endpoint.label })}>{t("Change")}</button>
              <button onClick={() => void attempt(() => test(`/api/notifications/endpoints/${endpoint.id}`))} aria-label={t("Test {name}", { name: endpoint.label })}>{t("Test")}</button>
              {endpoint.type === "WEBHOOK" && <button onClick={() => void rotate(endpoint)} aria-label={t("New secret of {name}", { name: endpoint.label })}>{t("New secret")}</button>}
              <button class="danger" onClick={() => void remove(endpoint)} aria-label={t("Delete {name}", { name: endpoint.label })}>{t("Delete")}</button>
            </span>
          </li>
        ))}
      </ul>
      {(isAdding || changed) && (
        <EndpointForm
          key={changed?.id}
          endpoint={changed ?? null}
          onClose={close}
          onSaved={(made) => {
            close();
            setSecret(made);
            void reload();
          }}
        />
      )}
      {secret && (
        <Dialog title={t("The secret of the webhook")} onClose={() => setSecret(null)} keepsOpen footer={<button class="main" onClick={() => setSecret(null)}>{t("I have kept it")}</button>}>
          <p>{t("It is shown this once. With it the receiver checks that a message is from here.")}</p>
          <pre><code>{secret}</code></pre>
          <div class="row"><button onClick={() => void navigator.clipboard?.writeText(secret).then(() => toast(t("Copied")))}>{t("Copy")}</button></div>
        </Dialog>
      )}
    </section>
  );
}

function stateOf({ autoDisabledAt, consecutiveFailures, lastFailureCode, lastSuccessAt }: Endpoint, zone: string | null): string {
  return [
    autoDisabledAt && t("Switched off after too many failures, {when}.", { when: timeInWords(autoDisabledAt, zone) }),
    consecutiveFailures > 0 && tn("{count} failure in a row.", "{count} failures in a row.", consecutiveFailures),
    consecutiveFailures > 0 && reasonInWords(lastFailureCode),
    lastSuccessAt && t("Last reached {when}", { when: timeInWords(lastSuccessAt, zone) }),
  ].filter(Boolean).join(" ");
}

function Times() {
  const account = useAccount();
  const user = account.settings.value;
  const quiet = user.quietHours;
  const shown = { from: quiet?.from ?? "22:00", to: quiet?.to ?? "07:00" };
  const form = useForm(`${account.id} quiet hours`, () => shown);
  useEffect(() => form.follow(shown), [quiet]);
  const { from, to } = form.values.value;
  const [problem, setProblem] = useState<Problem | null>(null);
  const put = async (body: { from: string | null; to: string | null }) => {
    setProblem(null);
    try {
      await connection.ask("PUT", "/api/user/quiet-hours", body);
      form.endAndStay();
      toast(t("Saved"));
      account.syncer.syncNow();
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return (
    <section class="card stack tight">
      <h2>{t("When you are told")}</h2>
      <p>
        {t("Reminders come at {time}, time zone {zone}.", { time: hourInWords(user.reminderHour), zone: (user.timezone ?? "UTC").replaceAll("_", " ") })}{" "}
        {user.weeklyDigestEnabled ? t("The weekly mail is on.") : t("The weekly mail is off.")} <a href={href("/account/preferences")}>{t("Change hour, zone and weekly mail")}</a>
      </p>
      <form
        class="stack tight"
        onSubmit={(event) => {
          event.preventDefault();
          void put({ from, to });
        }}
      >
        <h3>{t("Quiet hours")}</h3>
        <p class="soft small">{quiet ? t("What comes between {from} and {to} is sent at {to}.", { from: quiet.from, to: quiet.to }) : t("There are none: everything is sent at its time.")}</p>
        <div class="row">
          <TextField label={t("Quiet from")} type="time" required value={from} onValue={(value) => form.set("from", value)} error={problem?.fields["from"]} />
          <TextField label={t("Quiet until")} type="time" required value={to} onValue={(value) => form.set("to", value)} error={problem?.fields["to"]} />
        </div>
        {problem && Object.keys(problem.fields).length === 0 && <ProblemNote problem={problem} />}
        <div class="row">
          <button class="main">{t("Save the quiet hours")}</button>
          {quiet && <button type="button" onClick={() => void put({ from: null, to: null })}>{t("No quiet hours")}</button>}
        </div>
      </form>
    </section>
  );
}

function Upcoming() {
  const { settings } = useAccount();
  const { dateFormat, timezone } = settings.value;
  const [found] = useRemote("upcoming reminders", async (signal) => (await connection.ask("GET", "/api/reminders/upcoming?days=30&limit=50", undefined, { signal }))["reminders"] as Schemas["UpcomingReminder"][]);
  const { data, problem } = found.value;
  return (
    <section class="card stack tight">
      <h2>{t("What will be sent in the next 30 days")}</h2>
      <ProblemNote problem={problem} />
      {data?.length === 0 && <p class="soft">{t("Nothing.")}</p>}
      <ul class="plain-lines">
        {data?.map((reminder) => (
          <li key={`${reminder.kind} ${reminder.importantDateId ?? reminder.personId} ${reminder.date}`}>
            <bdi>{noticeInWords(reminder)}</bdi> <span class="soft small">{formatDay(reminder.date, dateFormat)}</span>
            <span class="soft small block">
              {[reminder.willSend && reminder.sendAt ? timeInWords(reminder.sendAt, timezone) : t("It is not sent."), reasonInWords(reminder.reason), ...reminder.destinations.map((each) => `${each.label || channelInWords(each.channel)}${each.willSend ? "" : `: ${reasonInWords(each.reason)}`}`)].filter(Boolean).join(" · ")}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

const PAGE_SIZE = 25;

function History() {
  const { settings } = useAccount();
  const [limit, setLimit] = useState(PAGE_SIZE);
  const [found] = useRemote(`deliveries ${limit}`, async (signal) => {
    const { deliveries, pagination } = await connection.ask("GET", `/api/notifications/deliveries?limit=${limit}`, undefined, { signal });
    return { rows: deliveries as Schemas["Delivery"][], total: pagination.total as number };
  });
  const { data, problem } = found.value;
  return (
    <section class="card stack tight">
      <h2>{t("What was sent in the last 90 days")}</h2>
      <ProblemNote problem={problem} />
      {data?.rows.length === 0 && <p class="soft">{t("Nothing.")}</p>}
      <ul class="plain-lines">
        {data?.rows.map((row) => (
          <li key={row.id}>
            <bdi>{noticeInWords(row)}</bdi> <span class="badge">{stateInWords(row.status)}</span>
            <span class="soft small block">
              {[timeInWords(row.endedAt ?? row.dueAt, settings.value.timezone), row.destination || channelInWords(row.channel), reasonInWords(row.code), row.late && t("late"), row.attempts > 1 && tn("{count} attempt", "{count} attempts", row.attempts), row.nextTryAt && t("again {when}", { when: timeInWords(row.nextTryAt, settings.value.timezone) })].filter(Boolean).join(" · ")}
            </span>
          </li>
        ))}
      </ul>
      {data && data.rows.length < data.total && limit < 1000 && <div class="row"><button onClick={() => setLimit(Math.min(1000, limit + 100))}>{t("Show more of {total}", { total: formatNumber(data.total) })}</button></div>}
    </section>
  );
}
