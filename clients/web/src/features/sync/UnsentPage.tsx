// What was not sent, what the service refused, and conflicts: each with what can be done.
import { type Conflict, type Edit, unsentFile } from "contacts-client";
import { href } from "../../app/router.ts";
import { copies, useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { useMany } from "../../store/records.ts";
import { useAnswerKeys } from "../../ui/answerKeys.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Empty } from "../../ui/Empty.tsx";
import { Page } from "../../ui/Page.tsx";
import { saveFile } from "../../ui/saveFile.ts";
import { RefusedMeeting } from "../meetings/RefusedMeeting.tsx";
import { takeBackAnswer } from "../sharing/answers.ts";
import { describeEdit, describeField, describeValue, nameOfRecord } from "./describe.ts";

export default function UnsentPage() {
  const account = useAccount();
  const { answers, pending, refused, conflicts, sync, syncer } = account;
  const isEmpty = answers.value.length + pending.value.length + refused.value.length + conflicts.value.length === 0;
  const keptCount = pending.value.length + refused.value.length + conflicts.value.length;
  const dates = useMany("importantDate", [...pending.value, ...refused.value].flatMap(({ type, id }) => (type === "importantDate" ? [id] : [])));
  const inWords = (edit: Edit) => describeEdit(account, edit, dates?.get(edit.id));
  const save = async () => {
    const own = (await copies.unsent()).find(({ accountId }) => accountId === account.id);
    if (own) saveFile(unsentFile(own), t("Unsent changes of {name}", { name: own.name || t("Account") }), "json");
  };
  return (
    <Page title={t("Sent and not sent")} back="/" actions={keptCount > 0 && <button onClick={() => void save()}>{t("Save as a file")}</button>}>
      {isEmpty && (
        <Empty kind="touch" title={t("All sent")}>
          <p>{t("What you change without a network is kept here until it is sent.")}</p>
        </Empty>
      )}
      {conflicts.value.length > 0 && <Conflicts conflicts={conflicts.value} />}
      {refused.value.map((edit) => (
        <RefusedCard key={edit.number} edit={edit} title={inWords(edit)} />
      ))}
      {pending.value.length > 0 && (
        <section class="card stack tight">
          <div class="row apart">
            <h2>{t("Saved here, not sent yet")}</h2>
            <button onClick={() => syncer.syncNow()} disabled={sync.value.phase === "syncing"}>
              {t("Send now")}
            </button>
          </div>
          <ul class="lines">
            {pending.value.map((edit) => (
              <li key={edit.number} class="row apart">
                <span>{inWords(edit)}</span>
                {edit.state === "waiting" && (
                  <button class="plain" onClick={() => void account.copy.discard(edit)} aria-label={t("Take back: {what}", { what: inWords(edit) })}>
                    {t("Take back")}
                  </button>
                )}
              </li>
            ))}
          </ul>
        </section>
      )}
      {answers.value.length > 0 && (
        <section class="card stack tight">
          <h2>{t("Answers about what is shared, kept here")}</h2>
          <ul class="lines">
            {answers.value.map((answer) => (
              <li key={answer.id} class="row apart">
                <span>{answer.text}</span>
                <button class="plain" onClick={() => void takeBackAnswer(account, answer)} aria-label={t("Take back: {what}", { what: answer.text })}>
                  {t("Take back")}
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
    </Page>
  );
}

function Conflicts({ conflicts }: { conflicts: Conflict[] }) {
  useAnswerKeys([t("Keep mine"), t("Keep the other")]);
  return <>{conflicts.map((conflict) => <ConflictCard key={conflict.key} conflict={conflict} />)}</>;
}

function ConflictCard({ conflict }: { conflict: Conflict }) {
  const account = useAccount();
  const { copy } = account;
  const { type, id, action, field, base, mine, theirs } = conflict;
  const name = nameOfRecord(account, type, id, conflict.base ?? conflict.theirs);
  const title =
    action === "delete" ? t("{name}: you deleted it, and it was changed elsewhere", { name })
    : field === null ? t("{name}: you changed it, and it was deleted elsewhere", { name })
    : t("{name}: {field} was changed here and elsewhere", { name, field: describeField(type, field) });
  return (
    <section class="card stack tight" aria-label={title} data-decision>
      <h2>
        {type === "person" && theirs !== null ? <a href={href(`/people/${id}`)}>{title}</a> : title}
      </h2>
      {field !== null && (
        <dl class="facts">
          <div>
            <dt class="soft small">{t("Before")}</dt>
            <dd><Value conflict={conflict} value={base} /></dd>
          </div>
          <div>
            <dt class="soft small">{t("Yours, on this device")}</dt>
            <dd><Value conflict={conflict} value={mine} /></dd>
          </div>
          <div>
            <dt class="soft small">{t("From elsewhere")}</dt>
            <dd><Value conflict={conflict} value={theirs} /></dd>
          </div>
        </dl>
      )}
      <div class="row">
        <button data-key="1" onClick={() => void copy.resolve(conflict, "mine")}>
          {action === "delete" ? t("Delete it") : field === null ? t("Bring it back with my change") : t("Keep mine")}
        </button>
        <button data-key="2" onClick={() => void copy.resolve(conflict, "theirs")}>
          {action === "delete" ? t("Keep it") : field === null ? t("Leave it deleted") : t("Keep the other")}
        </button>
      </div>
    </section>
  );
}

// A former photo cannot be shown: the service has the one of now alone.
function Value({ conflict, value }: { conflict: Conflict; value: unknown }) {
  if (conflict.field !== "photo" || typeof value !== "string") return <>{describeValue(value)}</>;
  if (value === conflict.base) return <>{t("Another photo")}</>;
  return <Avatar person={{ id: conflict.id, name: "?", photo: value }} size="large" alt={t("Photo")} />;
}

function RefusedCard({ edit, title }: { edit: Edit; title: string }) {
  const account = useAccount();
  if (edit.action === "accept") return <RefusedMeeting edit={edit} />;
  const problem = edit.problem as { error?: string; details?: { field: string; message: string }[] } | null;
  return (
    <section class="card stack tight">
      <h2>{title}</h2>
      <p class="banner danger">{problem?.error ?? t("The service did not take it.")}</p>
      {problem?.details && (
        <ul>
          {problem.details.map(({ field, message }) => (
            <li key={field}>
              {describeField(edit.type, field.split(".")[0]!)}: {message}
            </li>
          ))}
        </ul>
      )}
      <div class="row">
        {edit.type === "person" && (
          <a class="button" href={href(`/people/${edit.id}`)}>
            {t("Open the person")}
          </a>
        )}
        <button onClick={() => void account.copy.amend(edit, {})}>{t("Send again")}</button>
        <button class="danger" onClick={() => void account.copy.discard(edit)}>
          {t("Discard the change")}
        </button>
      </div>
    </section>
  );
}
