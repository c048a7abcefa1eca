// One device: when it was seen, what it may and gets, what it deleted, was refused and replaced, and its settings.
import type { components } from "contacts-client";
import { useState } from "preact/hooks";
import { decode, href } from "../../app/router.ts";
import { connection, useAccount } from "../../app/session.ts";
import { timeInWords } from "../../i18n/days.ts";
import { formatNumber, t, tn } from "../../i18n/index.ts";
import { confirm } from "../../ui/confirm.tsx";
import { hasDraft, useForm } from "../../ui/form.ts";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { toast } from "../../ui/toast.tsx";
import { describeField, describeValue } from "../sync/describe.ts";
import { bringBackDeletions } from "./deletions.ts";
import { DeviceFields } from "./DeviceFields.tsx";
import { bodyOf, isComplete, valuesOf } from "./settings.ts";
import { bookInWords, programName } from "./words.ts";

type Schemas = components["schemas"];

// An app password, with what is known of the device that signs in with it.
export interface DeviceRow {
  token: Pick<Schemas["ApiToken"], "id" | "name" | "scope" | "book" | "groupCards" | "alarms">;
  device: Schemas["Device"] | null; // null: it has not signed in yet
}

interface Props {
  row: DeviceRow;
  attempt: (work: () => Promise<unknown>) => Promise<void>;
  onSetUp: () => void;
}

const settingsKey = (accountId: string, tokenId: string) => `${accountId} device ${tokenId}`;

export function DeviceCard({ row: { token, device }, attempt, onSetUp }: Props) {
  const account = useAccount();
  const { id, name } = token;
  const [isEditing, setEditing] = useState(hasDraft(settingsKey(account.id, id)));
  const revoke = async () => {
    if (!(await confirm(t("Revoke {name}?", { name }), t("The device can no longer sign in. What it deleted stays in the trash."), t("Revoke"), true))) return;
    await attempt(() => connection.ask("DELETE", `/api/user/api-tokens/${id}`));
  };
  const seen = device ? `${programName(device.userAgent)} · ${t("Last seen {when}", { when: timeInWords(device.lastSeenAt, account.settings.value.timezone) })}` : t("Has not signed in yet");
  return (
    <section class="card stack tight" aria-label={name}>
      <h2><bdi>{name}</bdi></h2>
      <p>
        {seen}
        <span class="soft small block">{[token.scope === "READ" ? t("reads only") : t("reads and writes"), bookInWords(token.book, account), token.groupCards && t("groups as cards"), token.alarms && t("alarms")].filter(Boolean).join(" · ")}</span>
      </p>
      {device && device.deleted > 0 && <Deleted device={device} attempt={attempt} />}
      {device && device.refused.length > 0 && <RefusedCards device={device} />}
      {device && device.replaced.length > 0 && <Replaced device={device} attempt={attempt} />}
      {isEditing ? (
        <Settings row={{ token, device }} attempt={attempt} onDone={() => setEditing(false)} />
      ) : (
        <div class="row">
          <button onClick={() => setEditing(true)} aria-label={t("Settings of {name}", { name })}>{t("Settings")}</button>
          <button onClick={onSetUp} aria-label={t("Set up {name}", { name })}>{t("Set up")}</button>
          <button class="danger" onClick={() => void revoke()} aria-label={t("Revoke {name}", { name })}>{t("Revoke")}</button>
        </div>
      )}
    </section>
  );
}

function Deleted({ device, attempt }: { device: Schemas["Device"]; attempt: Props["attempt"] }) {
  return (
    <div class="banner warning">
      <span>{tn("It deleted {count} entry within 30 days.", "It deleted {count} entries within 30 days.", device.deleted)}</span>
      <button onClick={() => void attempt(() => bringBackDeletions(device.tokenId))} aria-label={t("Bring back what {name} deleted", { name: device.name })}>{t("Bring back")}</button>
    </div>
  );
}

function RefusedCards({ device: { refused, refusedSince } }: { device: Schemas["Device"] }) {
  const { settings } = useAccount();
  const { timezone } = settings.value;
  return (
    <details>
      <summary>{tn("{count} card could not be saved as it was sent", "{count} cards could not be saved as they were sent", refused.length)}{refusedSince && <span class="soft small"> · {t("since {when}", { when: timeInWords(refusedSince, timezone) })}</span>}</summary>
      <ul class="plain-lines">
        {refused.map(({ href: card, personId, reason, at }) => (
          <li key={`${card} ${at}`}>
            <NameOfPerson id={personId} otherwise={decode(card.split("/").at(-1)!)} />: {reason}
            <span class="soft small block capital">{timeInWords(at, timezone)}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

function NameOfPerson({ id, otherwise }: { id: string | undefined; otherwise: string }) {
  const row = useAccount().person(id ?? "");
  return row ? <a href={href(`/people/${row.id}`)}><bdi>{row.name}</bdi></a> : <bdi>{otherwise}</bdi>;
}

const SHOWN = 10;

function Replaced({ device, attempt }: { device: Schemas["Device"]; attempt: Props["attempt"] }) {
  const { timezone } = useAccount().settings.value;
  const [isWhole, setWhole] = useState(false);
  const rows = isWhole ? device.replaced : device.replaced.slice(0, SHOWN);
  const putBack = (row: Schemas["Replaced"]) =>
    attempt(async () => {
      await connection.ask("POST", `/api/user/devices/${device.tokenId}/replaced/${row.id}/restore`);
      toast(t("{name} is saved.", { name: row.personName }));
    });
  return (
    <details>
      <summary>{tn("It replaced or removed {count} value within 30 days", "It replaced or removed {count} values within 30 days", device.replaced.length)}</summary>
      <ul class="plain-lines">
        {rows.map((row) => {
          const property = describeField("person", row.property);
          return (
            <li key={row.id} class="row apart beside">
              <span>
                <a href={href(`/people/${row.personId}`)}><bdi>{row.personName}</bdi></a> · {property}
                {row.property !== "photo" && <bdi class="block">{describeValue(row.value)}</bdi>}
                <span class="soft small block capital">{timeInWords(row.at, timezone)}</span>
              </span>
              <button onClick={() => void putBack(row)} aria-label={t("Put back {property} of {name}", { property, name: row.personName })}>{t("Put back")}</button>
            </li>
          );
        })}
      </ul>
      {rows.length < device.replaced.length && <div><button onClick={() => setWhole(true)}>{t("Show more of {total}", { total: formatNumber(device.replaced.length) })}</button></div>}
    </details>
  );
}

function Settings({ row: { token }, attempt, onDone }: { row: DeviceRow; attempt: Props["attempt"]; onDone: () => void }) {
  const { id: accountId } = useAccount();
  const form = useForm(settingsKey(accountId, token.id), () => valuesOf(token));
  const [problem, setProblem] = useState<Problem | null>(null);
  const close = () => {
    form.end();
    onDone();
  };
  const save = async (event: Event) => {
    event.preventDefault();
    try {
      // What was changed here: another window may have changed the rest.
      if (form.isChanged) await connection.ask("PUT", `/api/user/api-tokens/${token.id}`, form.edit(bodyOf).changes);
    } catch (error) {
      setProblem(problemOf(error));
      return;
    }
    close();
    await attempt(async () => undefined);
  };
  return (
    <form class="stack" onSubmit={save}>
      <DeviceFields form={form} problem={problem} />
      <div class="row">
        <button class="main" disabled={!isComplete(form.values.value)}>{t("Save")}</button>
        <button type="button" onClick={close}>{t("Cancel")}</button>
      </div>
    </form>
  );
}
