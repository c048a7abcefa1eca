// The other ways: topics of ntfy, and webhooks.
import { useEffect, useState } from "preact/hooks";
import { connection, useAccount } from "../../app/session.ts";
import { timeInWords } from "../../i18n/days.ts";
import { t, tn } from "../../i18n/index.ts";
import { useAttempt, useRemote } from "../../store/remote.ts";
import { confirm } from "../../ui/confirm.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { hasDraft } from "../../ui/form.ts";
import { Icon } from "../../ui/Icon.tsx";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { toast } from "../../ui/toast.tsx";
import { type Endpoint, EndpointForm, endpointKey } from "./EndpointForm.tsx";
import { channelInWords, reasonInWords, test } from "./words.ts";

// Without a problem of its own where the page says one already.
export function Destinations({ hasProblem }: { hasProblem: boolean }) {
  const account = useAccount();
  const { settings } = account;
  const [found, reload] = useRemote("endpoints", async (signal) => (await connection.ask("GET", "/api/notifications/endpoints", undefined, { signal }))["endpoints"] as Endpoint[]);
  const [problem, attempt] = useAttempt(reload);
  const [isAdding, setAdding] = useState(hasDraft(endpointKey(account.id, null)));
  const [changedId, setChangedId] = useState<string | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const shown = problem ?? (hasProblem ? null : found.value.problem);
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
    <>
      {shown && <div class="setting-note"><ProblemNote problem={shown} /></div>}
      {found.value.data?.map((endpoint) => {
        const { label: name } = endpoint;
        return (
          <div key={endpoint.id} class="setting">
            <span class="setting-text">
              <bdi class="setting-label">{name}</bdi>
              <span class="soft small">{channelInWords(endpoint.type)} · {endpoint.url}</span>
              <span class="soft small">{stateOf(endpoint, settings.value.timezone)}</span>
            </span>
            <span class="row">
              <button onClick={() => setChangedId(endpoint.id)} aria-label={t("Change {name}", { name })}>{t("Change")}</button>
              <button onClick={() => void attempt(() => test(`/api/notifications/endpoints/${endpoint.id}`))} aria-label={t("Test {name}", { name })}>{t("Test")}</button>
              {endpoint.type === "WEBHOOK" && <button onClick={() => void rotate(endpoint)} aria-label={t("New secret of {name}", { name })}>{t("New secret")}</button>}
              <button class="danger" onClick={() => void remove(endpoint)} aria-label={t("Delete {name}", { name })}>{t("Delete")}</button>
              <input type="checkbox" role="switch" class="switch" aria-label={t("{name} is on", { name })} checked={endpoint.enabled} onChange={({ currentTarget }) => void attempt(() => connection.ask("PUT", `/api/notifications/endpoints/${endpoint.id}`, { enabled: currentTarget.checked }))} />
            </span>
          </div>
        );
      })}
      <button class="setting" onClick={() => setAdding(true)}>
        <span class="setting-text">
          <span class="setting-label">{t("Another way")}</span>
          <span class="soft small">{t("ntfy or a webhook")}</span>
        </span>
        <Icon name="add" />
      </button>
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
    </>
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
