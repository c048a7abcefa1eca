// The session has ended while the copy is open. One that has expired lets its user go on reading and editing; where this
// browser has no session at all, as after a sign-out on a page without script, nothing of the copy is shown.
import { signal } from "@preact/signals";
import { loadAllTexts, t, tn } from "../i18n/index.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { lazy } from "../ui/lazy.tsx";
import { Page } from "../ui/Page.tsx";
import { useAccount } from "./session.ts";
import { askToSignOut } from "./SignOut.tsx";

const isLater = signal(false);
const SignInForm = lazy(async () => {
  const [{ SignInForm: Form }] = await Promise.all([import("../features/account/SignInForm.tsx"), loadAllTexts()]);
  return { default: Form };
});

export function SignInAgain() {
  const { settings } = useAccount();
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
      <Unsent otherwise={t("Sign in to read what has changed. Until then you see what is saved here.")} />
      <SignInForm email={settings.value.email ?? ""} onDone={() => (isLater.value = false)} />
      <OtherAccount />
    </Dialog>
  );
}

export function SignedOutElsewhere() {
  return (
    <Page title={t("Your session has ended")} width="narrow">
      <Unsent otherwise={t("Sign in to see your people again.")} />
      <SignInForm />
      <OtherAccount />
    </Page>
  );
}

function Unsent({ otherwise }: { otherwise: string }) {
  const unsent = useAccount().pending.value.length;
  return <p>{unsent > 0 ? tn("{count} change is saved here. It is sent after you have signed in.", "{count} changes are saved here. They are sent after you have signed in.", unsent) : otherwise}</p>;
}

function OtherAccount() {
  return (
    <button class="plain" onClick={() => void askToSignOut()}>
      {t("Sign out and remove what is here")}
    </button>
  );
}
