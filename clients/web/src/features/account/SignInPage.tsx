import { href } from "../../app/router.ts";
import { WhatIsHere } from "../../app/SignOut.tsx";
import { t } from "../../i18n/index.ts";
import { Page } from "../../ui/Page.tsx";
import { SignInForm, useProviders } from "./SignInForm.tsx";

export default function SignInPage() {
  const providers = useProviders();
  return (
    <Page title={t("Sign in")} width="narrow">
      <WhatIsHere />
      <SignInForm />
      <p class="row apart">
        {providers?.registration !== false && <a href={href("/register")}>{t("Create an account")}</a>}
        {providers?.passwordLogin !== false && <a href={href("/forgotten")}>{t("Forgotten password")}</a>}
      </p>
    </Page>
  );
}
