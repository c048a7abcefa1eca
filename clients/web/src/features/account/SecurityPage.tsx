// Password, second factor, sessions, app passwords and devices.
import { useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { connection, renewSession, useAccount } from "../../app/session.ts";
import { timeInWords } from "../../i18n/days.ts";
import { capitalized, t } from "../../i18n/index.ts";
import { useRemote } from "../../store/remote.ts";
import { confirm } from "../../ui/confirm.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { lazy } from "../../ui/lazy.tsx";
import { SelectField, TextField } from "../../ui/Field.tsx";
import { Page } from "../../ui/Page.tsx";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { toast } from "../../ui/toast.tsx";
import { PasswordField } from "./PasswordField.tsx";

const QrCode = lazy(() => import("../../ui/QrCode.tsx"));

export default function SecurityPage() {
  return (
    <Page title={t("Sign-in and security")} back="/settings" width="form">
      <Password />
      <SecondFactor />
      <Sessions />
      <Tokens />
    </Page>
  );
}

function Password() {
  const { settings } = useAccount();
  const [current, setCurrent] = useState("");
  const [wanted, setWanted] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);
  if (!settings.value.hasPassword) return null;
  const save = async (event: Event) => {
    event.preventDefault();
    setProblem(null);
    try {
      await renewSession(() => connection.ask("PUT", "/api/user/password", { currentPassword: current, newPassword: wanted }));
      setCurrent("");
      setWanted("");
      toast(t("The password was changed. All other sessions have ended."));
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return (
    <section class="card">
      <form class="stack" onSubmit={save}>
        <h2>{t("Password")}</h2>
        <input type="email" name="email" autocomplete="username" value={settings.value.email} hidden readOnly />
        <PasswordField label={t("Current password")} value={current} onValue={setCurrent} error={problem?.fields["currentPassword"]} />
        <PasswordField label={t("New password")} isNew value={wanted} onValue={setWanted} error={problem?.fields["newPassword"]} />
        {problem && Object.keys(problem.fields).length === 0 && <ProblemNote problem={problem} />}
        <div><button class="main">{t("Change the password")}</button></div>
      </form>
    </section>
  );
}

type FactorStep = { kind: "begun"; secret: string; otpauthUrl: string } | { kind: "codes"; codes: string[] } | { kind: "proof"; action: "off" | "codes" } | null;

function SecondFactor() {
  const account = useAccount();
  const isOn = account.settings.value.mfaEnabled;
  const [step, setStep] = useState<FactorStep>(null);
  const [value, setValue] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);
  const attempt = async (work: () => Promise<void>) => {
    setProblem(null);
    try {
      await work();
      setValue("");
      account.syncer.syncNow();
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  const begin = () =>
    attempt(async () => {
      const { secret, otpauthUrl } = await connection.ask("POST", "/api/user/mfa/totp");
      setStep({ kind: "begun", secret, otpauthUrl });
    });
  const confirmCode = () =>
    attempt(async () => {
      const { recoveryCodes } = await connection.ask("POST", "/api/user/mfa/totp/confirm", { code: value.replace(/\s/g, "") });
      setStep({ kind: "codes", codes: recoveryCodes });
    });
  const prove = (action: "off" | "codes") =>
    attempt(async () => {
      const proof = /^\d{6}$/.test(value) ? { code: value } : { password: value };
      if (action === "off") {
        await connection.ask("DELETE", "/api/user/mfa/totp", proof);
        setStep(null);
        toast(t("The second factor is off."));
      } else {
        const { recoveryCodes } = await connection.ask("POST", "/api/user/mfa/recovery-codes", proof);
        setStep({ kind: "codes", codes: recoveryCodes });
      }
    });
  const close = () => {
    setStep(null);
    setProblem(null);
    setValue("");
  };
  return (
    <section class="card stack tight">
      <h2>{t("Second factor")}</h2>
      <p>{isOn ? t("On: signing in needs a code of your authenticator app.") : t("Off. With a second factor a stolen password alone opens nothing.")}</p>
      <div class="row">
        {isOn ? (
          <>
            <button onClick={() => setStep({ kind: "proof", action: "codes" })}>{t("New recovery codes")}</button>
            <button class="danger" onClick={() => setStep({ kind: "proof", action: "off" })}>{t("Switch it off")}</button>
          </>
        ) : (
          <button onClick={() => void begin()}>{t("Switch it on")}</button>
        )}
      </div>
      {!step && <ProblemNote problem={problem} />}
      {step?.kind === "begun" && (
        <Dialog title={t("Second factor")} onClose={close} keepsOpen onSubmit={() => void confirmCode()} footer={<button class="main">{t("Switch it on")}</button>}>
          <p>{t("Read this with your authenticator app, then type the code that it shows.")}</p>
          <QrCode text={step.otpauthUrl} label={t("QR code for the authenticator app")} />
          <p class="small">{t("Or type this key:")} <code>{step.secret}</code></p>
          <TextField label={t("Code")} inputMode="numeric" autocomplete="one-time-code" required value={value} onValue={setValue} error={problem?.text} />
        </Dialog>
      )}
      {step?.kind === "codes" && (
        <Dialog title={t("Recovery codes")} onClose={close} footer={<button class="main" onClick={close}>{t("I have kept them")}</button>}>
          <p>{t("Each of them signs you in once, without the app. They are shown this once: keep them where nobody else reads them.")}</p>
          <pre>{step.codes.join("\n")}</pre>
          <div class="row"><button onClick={() => void navigator.clipboard?.writeText(step.codes.join("\n")).then(() => toast(t("Copied")))}>{t("Copy")}</button></div>
        </Dialog>
      )}
      {step?.kind === "proof" && (
        <Dialog title={step.action === "off" ? t("Switch the second factor off") : t("New recovery codes")} onClose={close} onSubmit={() => void prove(step.action)} footer={<button class="main">{t("Continue")}</button>}>
          <TextField label={t("Your password, or a code")} type="password" autocomplete="current-password" required autoFocus value={value} onValue={setValue} error={problem?.text} />
        </Dialog>
      )}
    </section>
  );
}

function Sessions() {
  const { settings } = useAccount();
  const [found, reload] = useRemote("sessions", async (signal) => (await connection.ask("GET", "/api/user/sessions", undefined, { signal }))["sessions"] as Session[]);
  const { data, problem } = found.value;
  const end = async (session: Session) => {
    await connection.ask("DELETE", `/api/user/sessions/${session.id}`).catch((error: unknown) => toast(problemOf(error).text));
    await reload();
  };
  return (
    <section class="card stack tight">
      <h2>{t("Sessions")}</h2>
      <ProblemNote problem={problem} onRetry={() => void reload()} />
      <ul class="plain-lines">
        {data?.map((session) => (
          <li key={session.id} class="row apart beside">
            <span>
              <strong>{browserName(session.userAgent)}</strong>
              {session.current && <span class="badge current">{t("this browser")}</span>}
              <span class="soft small block">{t("Last used {when}", { when: timeInWords(session.lastUsedAt, settings.value.timezone) })}{session.ip && ` · ${session.ip}`}</span>
            </span>
            {!session.current && <button onClick={() => void end(session)} aria-label={t("End the session of {browser}", { browser: browserName(session.userAgent) })}>{t("End")}</button>}
          </li>
        ))}
      </ul>
    </section>
  );
}

interface Session {
  id: string;
  lastUsedAt: string;
  userAgent: string | null;
  ip: string | null;
  current: boolean;
}

export function browserName(agent: string | null): string {
  const text = agent ?? "";
  const browser = /Edg\//.test(text) ? "Edge" : /Firefox\//.test(text) ? "Firefox" : /Chrome\//.test(text) ? "Chrome" : /Safari\//.test(text) ? "Safari" : text.split(" ")[0];
  const system = /iPhone|iPad/.test(text) ? "iOS" : /Android/.test(text) ? "Android" : /Windows/.test(text) ? "Windows" : /Mac OS/.test(text) ? "macOS" : /Linux/.test(text) ? "Linux" : "";
  return [browser || t("A device"), system].filter(Boolean).join(", ");
}

interface Token {
  id: string;
  name: string;
  prefix: string;
  scope: string;
  kind: string; // `token` of a program, `device` of an app that has signed in, `book` of a device with its address book
  lastUsedAt: string | null;
}

function Tokens() {
  const { settings } = useAccount();
  const [found, reload] = useRemote("tokens", async (signal) => {
    const [{ tokens }, { devices }] = await Promise.all([
      connection.ask("GET", "/api/user/api-tokens", undefined, { signal }),
      connection.ask("GET", "/api/user/devices", undefined, { signal }),
    ]);
    const deviceIds = new Set((devices as { tokenId: string }[]).map(({ tokenId }) => tokenId));
    return (tokens as Token[]).map((token) => ({ ...token, kind: deviceIds.has(token.id) ? "book" : token.kind }));
  });
  const [isAdding, setAdding] = useState(false);
  const [shown, setShown] = useState<string | null>(null);
  const end = async (token: Token) => {
    if (!(await confirm(t("End {name}?", { name: token.name }), t("Whatever uses it can no longer sign in."), t("End"), true))) return;
    await connection.ask("DELETE", `/api/user/api-tokens/${token.id}`).catch((error: unknown) => toast(problemOf(error).text));
    await reload();
  };
  return (
    <section class="card stack tight">
      <div class="row apart">
        <h2>{t("App passwords and devices")}</h2>
        <button onClick={() => setAdding(true)}>{t("New app password")}</button>
      </div>
      <p class="soft small">{t("For address books of phones, calendars and programs. Each can be ended by itself.")}</p>
      <p><a href={href("/devices")}>{t("Add a phone or computer, and see what it did")}</a></p>
      <ProblemNote problem={found.value.problem} onRetry={() => void reload()} />
      <ul class="plain-lines">
        {found.value.data?.map((token) => (
          <li key={token.id} class="row apart beside">
            <span>
              <strong><bdi>{token.name}</bdi></strong>
              <span class="soft small block">{kindInWords(token.kind)} · {token.scope === "READ" ? t("reads only") : t("reads and writes")} · {t("begins with {prefix}", { prefix: token.prefix })}</span>
              <span class="soft small block">{token.lastUsedAt ? t("Last used {when}", { when: timeInWords(token.lastUsedAt, settings.value.timezone) }) : t("Never used")}</span>
            </span>
            <button onClick={() => void end(token)} aria-label={t("End {name}", { name: token.name })}>{t("End")}</button>
          </li>
        ))}
      </ul>
      {isAdding && <NewToken onClose={() => setAdding(false)} onMade={(token) => { setAdding(false); setShown(token); void reload(); }} />}
      {shown && (
        <Dialog title={t("Your app password")} onClose={() => setShown(null)} keepsOpen footer={<button class="main" onClick={() => setShown(null)}>{t("I have kept it")}</button>}>
          <p>{t("It is shown this once. Type it where the app asks for a password; the user name is your e-mail address.")}</p>
          <pre><code>{shown}</code></pre>
          <div class="row"><button onClick={() => void navigator.clipboard?.writeText(shown).then(() => toast(t("Copied")))}>{t("Copy")}</button></div>
        </Dialog>
      )}
    </section>
  );
}

function kindInWords(kind: string): preact.ComponentChildren {
  if (kind === "book") return <a href={href("/devices")}>{t("phone or computer")}</a>;
  return kind === "device" ? t("app that signed in") : t("app password or token");
}

function NewToken({ onClose, onMade }: { onClose: () => void; onMade: (token: string) => void }) {
  const [name, setName] = useState("");
  const [scope, setScope] = useState("READ_WRITE");
  const [problem, setProblem] = useState<Problem | null>(null);
  const make = async () => {
    try {
      onMade((await connection.ask("POST", "/api/user/api-tokens", { name, scope }))["apiToken"].token);
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return (
    <Dialog title={t("New app password")} onClose={onClose} onSubmit={() => void make()} footer={<><button type="button" onClick={onClose}>{t("Cancel")}</button><button class="main">{t("Create")}</button></>}>
      <TextField label={t("What is it for?")} required maxLength={100} autoFocus value={name} onValue={setName} error={problem?.text} />
      <SelectField label={t("What it may do")} value={scope} onValue={setScope} options={[["READ_WRITE", capitalized(t("reads and writes"))], ["READ", capitalized(t("reads only"))]]} />
    </Dialog>
  );
}
