// Signing out, which removes the copies of all accounts from this browser, and what is said of copies without a session.
import { type Unsent, unsentFile } from "contacts-client";
import { t, tn } from "../i18n/index.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { saveFile } from "../ui/saveFile.ts";
import { account, copies, endSession, ended, signOut, unsentAtSignOut, unsentHere } from "./session.ts";

export async function askToSignOut(): Promise<void> {
  const current = account.value;
  if (current?.answers.value.length) await import("../features/sharing/answers.ts").then(({ sendAndTell }) => sendAndTell(current, true)).catch(() => undefined);
  unsentAtSignOut.value = await copies.unsent().catch(() => []);
}

export function SignOutDialog() {
  const unsent = unsentAtSignOut.value;
  if (!unsent) return null;
  const answers = account.value?.answers.value.length ?? 0;
  const close = () => (unsentAtSignOut.value = null);
  const leave = () => {
    close();
    void signOut();
  };
  return (
    <Dialog
      title={t("Sign out?")}
      onClose={close}
      footer={
        <>
          <button onClick={close}>{t("Cancel")}</button>
          <button class={unsent.length + answers ? "danger" : "main"} onClick={leave}>{t("Sign out")}</button>
        </>
      }
    >
      <p>{t("What this browser keeps is removed from it, of every account that was used here.")}</p>
      {answers > 0 && <p>{tn("{count} answer about what is shared is not sent, and is lost if you sign out now.", "{count} answers about what is shared are not sent, and are lost if you sign out now.", answers)}</p>}
      {unsent.length > 0 && (
        <>
          <p>{t("What was not sent is lost if you sign out now:")}</p>
          <UnsentList unsent={unsent} />
        </>
      )}
    </Dialog>
  );
}

function UnsentList({ unsent, onRemove }: { unsent: Unsent[]; onRemove?: (each: Unsent) => unknown }) {
  return (
    <ul class="stack tight">
      {unsent.map((each) => {
        const name = each.name || t("An account");
        return (
          <li key={each.accountId} class="row apart">
            <span>{tn("{name}: {count} change", "{name}: {count} changes", each.edits.length + each.conflicts.length, { name })}</span>
            <span class="row">
              <button type="button" aria-label={t("Save as a file: {name}", { name })} onClick={() => saveFile(unsentFile(each), t("Unsent changes of {name}", { name }), "json")}>
                {t("Save as a file")}
              </button>
              {onRemove && (
                <button type="button" class="danger" aria-label={t("Remove: {name}", { name })} onClick={() => void onRemove(each)}>
                  {t("Remove")}
                </button>
              )}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

// On the page that asks to sign in: why nobody is signed in any more, and what is still here.
export function WhatIsHere() {
  const waiting = unsentHere.value.filter(({ isStripped }) => !isStripped).reduce((sum, { edits }) => sum + edits.length, 0);
  const left = unsentHere.value.filter(({ isStripped }) => isStripped);
  const remove = async ({ accountId }: Unsent) => {
    await copies.remove(accountId);
    unsentHere.value = unsentHere.value.filter((each) => each.accountId !== accountId);
  };
  return (
    <>
      {ended.value === "not_ended" && <NotEnded />}
      {ended.value === "session_revoked" && <p class="banner warning" role="status">{t("You were signed out elsewhere, or the password was changed. What this browser kept of the account was removed.")}</p>}
      {ended.value === "account_deleted" && <p class="banner warning" role="status">{t("This account has been deleted. What this browser kept of it was removed.")}</p>}
      {waiting > 0 && <p>{tn("{count} change is saved here. It is sent after you have signed in.", "{count} changes are saved here. They are sent after you have signed in.", waiting)}</p>}
      {left.length > 0 && (
        <section class="card stack tight" aria-label={t("Not sent")}>
          <h2>{t("Not sent")}</h2>
          <p>{t("These changes are still here. If the account still exists, they are sent after its owner has signed in.")}</p>
          <UnsentList unsent={left} onRemove={remove} />
        </section>
      )}
    </>
  );
}

function NotEnded() {
  const tryAgain = async () => {
    if (await endSession()) ended.value = null;
  };
  return (
    <div class="banner danger" role="alert">
      <span>{t("What this browser kept was removed, but the service could not be told: the session has not ended. Whoever uses this browser next may be signed in.")}</span>
      <button type="button" onClick={() => void tryAgain()}>{t("Try again")}</button>
    </div>
  );
}
