// The session has ended while the copy is open: reading and editing go on, and the edits are sent after a sign-in.
import { signal } from "@preact/signals";
import { t, tn } from "../i18n/index.ts";
import { SignInForm } from "../features/account/SignInForm.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { signOut, useAccount } from "./session.ts";

const isLater = signal(false);

export function SignInAgain() {
  const { pending, settings } = useAccount();
  const unsent = pending.value.length;
  if (isLater.value) {
    return (
      <div class="toasts no-print">
        <div class="toast">
          <span>{t("Your session has ended.")}</span>
          <button onClick={() => (isLater.value = false)}>{t("Sign in")}</button>
        </div>
      </div>
    );
  }
  return (
    <Dialog title={t("Your session has ended")} onClose={() => (isLater.value = true)}>
      <p>
        {unsent > 0
          ? tn("{count} change is saved here. It is sent after you have signed in.", "{count} changes are saved here. They are sent after you have signed in.", unsent)
          : t("Sign in to read what has changed. Until then you see what is saved here.")}
      </p>
      <SignInForm email={settings.value.email ?? ""} onDone={() => (isLater.value = false)} />
      <button class="plain" onClick={() => void signOut()}>
        {t("Use another account")}
      </button>
    </Dialog>
  );
}
