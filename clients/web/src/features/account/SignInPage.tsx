import { href } from "../../app/router.ts";
import { WhatIsHere } from "../../app/SignOut.tsx";
import { t } from "../../i18n/index.ts";
import { Gate } from "./Gate.tsx";
import { SignInForm, useProviders, withNext } from "./SignInForm.tsx";

export default function SignInPage() {
  const providers = useProviders();
  return (
    <Gate title={t("Sign in")}>
      <WhatIsHere />
      <SignInForm />
      <p class="row apart small">
        {providers?.registration !== false && <a class="tall-link row" href={withNext("/register")}>{t("Create an account")}</a>}
        {providers?.passwordLogin !== false && <a class="tall-link row" href={href("/forgotten")}>{t("Forgotten password")}</a>}
      </p>
    </Gate>
  );
}
