// Signing in by password, with the second factor if the account has one. Used by the page and by the dialog of an ended session.
import { useEffect, useRef, useState } from "preact/hooks";
import { href, place } from "../../app/router.ts";
import { connection, leaveForProvider, refusal, signIn } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { TextField } from "../../ui/Field.tsx";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { PasswordField } from "./PasswordField.tsx";

interface Props {
  email?: string;
  onDone?: () => void; // the page goes on by itself
}

// The way back to where the user wanted to go stays in the address.
export function withNext(path: string): string {
  const next = place.value.query.get("next");
  return href(next ? `${path}?next=${encodeURIComponent(next)}` : path);
}

interface Providers {
  providers: { id: string; name: string }[];
  passwordLogin: boolean;
  registration: boolean;
}

// Asked once for the page and its form; again after a failure, such as without a network.
let asked: Promise<Providers | undefined> | undefined;

export function useProviders(): Providers | undefined {
  const [found, setFound] = useState<Providers>();
  useEffect(() => {
    asked ??= connection.api.GET("/api/auth/providers").then(({ data }) => data, () => void (asked = undefined));
    void asked.then(setFound);
  }, []);
  return found;
}

// Why a sign-in through the provider has led back here, by the code of the service.
function refusalText(code: string): string {
  switch (code) {
    case "email_unverified":
      return t("The sign-in provider does not say that this e-mail address is yours.");
    case "invalid_state":
      return t("This sign-in has expired, or was begun elsewhere. Start it again.");
    case "oidc_refused":
      return t("The sign-in provider did not confirm who you are.");
    case "rate_limited":
      return t("Too many attempts. Try again in a few minutes.");
    case "registration_closed":
      return t("This service takes no new accounts. Its operator can invite you.");
    case "unavailable":
      return t("The sign-in provider does not answer. Try again in a few minutes.");
    default:
      return t("You could not be signed in.");
  }
}

export function SignInForm({ email: known = "", onDone }: Props) {
  const [email, setEmail] = useState(known);
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const [needsCode, setNeedsCode] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const providers = useProviders();
  const hasPasswords = providers?.passwordLogin !== false;
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>(`input[type=${known ? "password" : "email"}]`)?.focus(), []);

  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    refusal.value = null;
    try {
      await signIn(needsCode ? { email, password, code: code.replace(/\s/g, "") } : { email, password });
      onDone?.();
    } catch (error) {
      const found = problemOf(error);
      if (found.code === "mfa_required") setNeedsCode(true);
      setProblem(found.code === "mfa_required" && !needsCode ? null : found);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form class="stack" ref={form} onSubmit={submit}>
      {!needsCode && hasPasswords && (
        <>
          <TextField label={t("E-mail")} type="email" name="email" autocomplete="username" inputMode="email" required value={email} onValue={setEmail} error={problem?.fields["email"]} />
          <PasswordField label={t("Password")} value={password} onValue={setPassword} />
        </>
      )}
      {needsCode && (
        <TextField label={t("Code of the second factor")} name="code" autocomplete="one-time-code" inputMode="numeric" required autoFocus value={code} onValue={setCode} hint={t("From your authenticator app, or a recovery code.")} />
      )}
      {(problem || refusal.value) && (
        <p class="banner danger" role="alert">
          {problem ? problem.text : refusalText(refusal.value!)}
        </p>
      )}
      {hasPasswords && (
        <button class="main big" disabled={isBusy}>
          {t("Sign in")}
        </button>
      )}
      <ProviderLinks providers={providers} />
    </form>
  );
}

// The sign-in of an organisation, if the operator has one.
export function ProviderLinks({ providers }: { providers: Providers | undefined }) {
  if (!providers?.providers.length) return null;
  return (
    <>
      {providers.passwordLogin && <p class="gate-or">{t("or")}</p>}
      {providers.providers.map(({ id, name }) => (
        <a key={id} class="button big" onClick={leaveForProvider} href={`/api/auth/oidc/start?next=${encodeURIComponent(`${location.pathname}${location.search}`)}`}>
          {t("Sign in with {name}", { name })}
        </a>
      ))}
    </>
  );
}
