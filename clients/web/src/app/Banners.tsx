// What is always said: offline, not sent, refused, conflicts, the first reading, a new version.
import { useEffect, useRef } from "preact/hooks";
import { formatNumber, t, tn } from "../i18n/index.ts";
import { announce } from "../ui/announce.ts";
import { href } from "./router.ts";
import { isUnreachable } from "./reach.ts";
import { isKeptNowhere, state, useAccount, wasRemoved } from "./session.ts";
import { loadNewVersion, newVersion } from "./version.ts";
import { Waiting } from "./Waiting.tsx";

export function Banners() {
  const { sync, answers, pending, refused, conflicts } = useAccount();
  const { progress } = sync.value;
  const phase = isUnreachable.value ? "offline" : sync.value.phase;
  const unsent = pending.value.length + answers.value.length;
  const before = useRef(phase);
  useEffect(() => {
    if (phase === "offline" && before.current !== "offline") announce(t("Offline. What you change is saved here."));
    if (phase === "idle" && before.current === "offline") announce(t("Online again. Everything is sent."));
    if (phase !== "syncing") before.current = phase;
  }, [phase]);
  useEffect(() => {
    // For style sheets, and for tests, which wait for it.
    document.documentElement.dataset["sync"] = phase === "idle" && unsent > 0 ? "syncing" : phase;
  }, [phase, unsent]);
  const problems = refused.value.length + conflicts.value.length;
  return (
    <div class="banners no-print">
      <Waiting />
      {newVersion.value && (
        <div class="banner">
          <span>{t("A new version is here.")}</span>
          <button onClick={loadNewVersion}>{t("Load it")}</button>
        </div>
      )}
      {isKeptNowhere.value && (
        <div class="banner warning">
          <span>{t("This browser keeps nothing here, as in a private window: without a network nothing can be seen, and what was not sent is lost with the page.")}</span>
          <button onClick={() => (isKeptNowhere.value = false)}>{t("Close")}</button>
        </div>
      )}
      {wasRemoved.value && (
        <div class="banner warning">
          <span>{t("The browser has removed what was saved here. It is read again; changes that were not sent are lost.")}</span>
          <button onClick={() => (wasRemoved.value = false)}>{t("Close")}</button>
        </div>
      )}
      {phase === "offline" && (
        <div class="banner warning">
          <span>
            {isUnreachable.value && navigator.onLine ? t("The server does not answer.") : t("Offline.")}{" "}
            {unsent > 0
              ? tn("{count} change is saved here and not sent yet.", "{count} changes are saved here and not sent yet.", unsent)
              : t("What you change is saved here.")}
          </span>
          {unsent > 0 && <a href={href("/unsent")}>{t("Show")}</a>}
        </div>
      )}
      {phase === "failed" && state.value === "in" && <SyncFailed />}
      {problems > 0 && (
        <div class="banner danger">
          <span>{tn("{count} change needs a decision.", "{count} changes need a decision.", problems)}</span>
          <a href={href("/unsent")}>{t("Decide")}</a>
        </div>
      )}
      {progress && (
        <div class="banner">
          <label class="row">
            <span>
              {t("Reading your account: {done} of {total}", {
                done: formatNumber(progress.done),
                total: progress.total === null ? "…" : formatNumber(progress.total),
              })}
            </span>
            <progress value={progress.done} max={progress.total ?? undefined} />
          </label>
        </div>
      )}
    </div>
  );
}

function SyncFailed() {
  const { sync, syncer } = useAccount();
  const error = sync.value.error as { body?: { error?: string } } | null;
  return (
    <div class="banner warning">
      <span>
        {t("Sending and reading did not work.")} {error?.body?.error}
      </span>
      <button onClick={() => syncer.syncNow()}>{t("Try again")}</button>
    </div>
  );
}
