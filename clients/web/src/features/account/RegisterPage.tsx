import { useState } from "preact/hooks";
import { register } from "../../app/session.ts";
import { language, t } from "../../i18n/index.ts";
import { TextField } from "../../ui/Field.tsx";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { Gate } from "./Gate.tsx";
import { PasswordField } from "./PasswordField.tsx";
import { ProviderLinks, useProviders, withNext } from "./SignInForm.tsx";

export default function RegisterPage() {
  const [values, setValues] = useState({ name: "", email: "", password: "" });
  const [problem, setProblem] = useState<Problem | null>(null);
  const providers = useProviders();
  const [isSent, setSent] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const set = (field: keyof typeof values) => (value: string) => setValues((before) => ({ ...before, [field]: value }));
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    try {
      const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;
      const outcome = await register({ ...values, language: language.value, ...(timezone ? { timezone } : {}) });
      if (outcome === "unverified") setSent(true);
    } catch (error) {
      setProblem(problemOf(error));
    } finally {
      setBusy(false);
    }
  };
  if (isSent) {
    return (
      <Gate title={t("Look into your mail")}>
        <p>{t("We have sent a link to {email}. Open it, then sign in.", { email: values.email })}</p>
        <p>
          <a class="button main" href={withNext("/sign-in")}>
            {t("Sign in")}
          </a>
        </p>
      </Gate>
    );
  }
  return (
    <Gate title={t("Create an account")}>
      <form class="stack" onSubmit={submit}>
        <TextField label={t("Your name")} name="name" autocomplete="given-name" autocapitalize="words" required maxLength={100} value={values.name} onValue={set("name")} error={problem?.fields["name"]} />
        <TextField label={t("E-mail")} name="email" type="email" autocomplete="username" inputMode="email" required value={values.email} onValue={set("email")} error={problem?.fields["email"]} />
        <PasswordField label={t("Password")} isNew value={values.password} onValue={set("password")} error={problem?.fields["password"]} />
        {problem && Object.keys(problem.fields).length === 0 && (
          <p class="banner danger" role="alert">
            {problem.text}
          </p>
        )}
        <button class="main big" disabled={isBusy}>
          {t("Create an account")}
        </button>
        <ProviderLinks providers={providers} />
      </form>
      <p class="small">
        {t("You have an account?")} <a href={withNext("/sign-in")}>{t("Sign in")}</a>
      </p>
    </Gate>
  );
}
