// The form of a calendar, new or known. It is tried before it is saved, wherever its password is known here. What was typed is
// a draft until then, but for the address, which is often a secret, and the password.
import { useRef, useState } from "preact/hooks";
import { connection, useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { Check, SelectField, TextField } from "../../ui/Field.tsx";
import { useForm } from "../../ui/form.ts";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { daysBackOptions, errorInWords, helpOf, hostOf, nameByAddress, type Provider, PROVIDERS, type Source, type Way, WAYS, withScheme } from "./words.ts";

export const sourceKey = (accountId: string, source: Source | null) => `${accountId} calendar ${source?.id ?? "new"}`;

interface Values {
  provider: Provider;
  way: Way;
  name: string;
  username: string;
  daysBack: string;
}

interface Calendar {
  href: string;
  name: string;
  chosen: boolean;
}

const SHOWN_FIELDS = ["url", "username", "password", "name"];

interface Props {
  source: Source | null;
  onSaved: () => Promise<void>;
  onClose: () => void;
}

export function SourceForm({ source, onSaved, onClose }: Props) {
  const { id: accountId } = useAccount();
  const form = useForm<Values>(sourceKey(accountId, source), () => ({
    provider: source ? "other" : "google",
    way: source?.kind ?? "ics",
    name: source?.name ?? "",
    username: source?.username ?? "",
    daysBack: String(source?.daysBack ?? 30),
  }));
  const { provider, way, name, username, daysBack } = form.values.value;
  const [url, setUrl] = useState((!source && way === "caldav" && PROVIDERS[provider].server) || ""); // empty: that of before
  const [password, setPassword] = useState("");
  const [calendars, setCalendars] = useState<Calendar[] | null>(source?.calendars.length ? source.calendars : null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const tested = useRef("");
  const isSignIn = way === "caldav";
  const [isAsked, setAsked] = useState(Boolean(source?.username)); // the address alone is not enough
  const hasLogin = isSignIn || isAsked;
  const choose = (chosen: Provider, by = PROVIDERS[chosen].ways[0]!) => {
    form.set("provider", chosen);
    form.set("way", by);
    const servers = Object.values(PROVIDERS).map(({ server }) => server);
    if (url === "" || servers.includes(url)) setUrl((by === "caldav" && PROVIDERS[chosen].server) || "");
    setProblem(null);
    setCalendars(null);
    setAsked(false);
  };
  const close = () => {
    form.end();
    onClose();
  };
  const address = withScheme(url);
  // Of a known calendar the service has the password and the whole address, which are not here.
  const isTestable = source === null || (address !== "" && (password !== "" || !source.username));
  const login = { url: address, ...(hasLogin && username && { username }), ...(hasLogin && password && { password }) };
  const test = async () => {
    const key = JSON.stringify([way, login]);
    if (!isTestable || tested.current === key) return false;
    const found = await connection.ask("POST", "/api/calendar-sources/test", { name: name || "?", kind: way, ...login });
    tested.current = key;
    if (!isSignIn) return false;
    setCalendars((found["calendars"] as Calendar[]).map((each) => ({ ...each, chosen: true })));
    return true;
  };
  const save = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      if (await test()) return; // which calendars is asked next
      const chosen = calendars?.filter((each) => each.chosen).map(({ href }) => href);
      const isAll = chosen?.length === calendars?.length;
      const body = { name: name.trim() || (source?.name ?? nameByAddress(address)), daysBack: Number(daysBack), ...(hasLogin && username && { username }), ...(hasLogin && password && { password }), ...(isSignIn && { calendars: isAll ? null : chosen }) };
      if (source) await connection.ask("PUT", `/api/calendar-sources/${source.id}`, { ...body, ...(address && { url: address }) });
      else await connection.ask("POST", "/api/calendar-sources", { ...body, kind: way, url: address });
      close();
      await onSaved();
    } catch (error) {
      const found = problemOf(error);
      const isAsking = found.code === "auth" && !hasLogin;
      if (isAsking) setAsked(true);
      setProblem({ ...found, text: isAsking ? t("The server asks for a user name and a password.") : (errorInWords(found.code) ?? found.text) });
    } finally {
      setBusy(false);
    }
  };
  const isChoosing = isSignIn && calendars !== null;
  const isComplete = (url.trim() !== "" || source?.url) && (!hasLogin || username.trim() !== "") && (!isChoosing || calendars.some((each) => each.chosen));
  const says = source ? t("Save") : !isSignIn || isChoosing ? t("Add") : t("Sign in and look");
  return (
    <form class={`stack calendar-form ${source ? "" : "card"}`} onSubmit={(event) => void save(event)}>
      {!source && <h2>{t("Add a calendar")}</h2>}
      {form.wasRestored && <p class="banner">{t("This is what you typed before. It was not saved yet.")}</p>}
      {!source && (
        <div class="segments" role="group" aria-label={t("Whose calendar it is")}>
          {(Object.keys(PROVIDERS) as Provider[]).map((each) => (
            <button key={each} type="button" aria-pressed={each === provider} onClick={() => choose(each)}>{t(PROVIDERS[each].label)}</button>
          ))}
        </div>
      )}
      {!source && PROVIDERS[provider].ways.length > 1 && (
        <div class="segments" role="group" aria-label={t("How it is read")}>
          {PROVIDERS[provider].ways.map((each) => (
            <button key={each} type="button" aria-pressed={each === way} onClick={() => choose(provider, each)}>{t(WAYS[each].label)}</button>
          ))}
        </div>
      )}
      {!source && <p class="soft small">{helpOf(provider, way)}</p>}
      <TextField
        label={isSignIn ? t("Address of the server") : t("Secret address of the calendar")}
        type="text"
        inputMode="url"
        autocomplete="off"
        autocapitalize="off"
        required={!source?.url}
        placeholder={source?.url ? `${hostOf(source.url)}/…` : ""}
        value={url}
        onValue={setUrl}
        error={problem?.fields["url"]}
        hint={source?.url ? t("Leave it empty to keep the one there is.") : undefined}
      />
      {hasLogin && (
        <>
          <TextField label={t("User name on the server")} autocomplete="off" autocapitalize="off" required value={username} onValue={(value) => form.set("username", value)} error={problem?.fields["username"]} />
          <TextField label={t("Password")} type="password" autocomplete="off" required={!source?.url} value={password} onValue={setPassword} error={problem?.fields["password"]} hint={source?.url ? t("Leave it empty to keep the one there is.") : undefined} />
        </>
      )}
      {isChoosing && (
        <fieldset class="calendar-choice">
          <legend>{t("Which of them are read")}</legend>
          {calendars.map((calendar) => (
            <Check key={calendar.href} label={<bdi>{calendar.name || calendar.href}</bdi>} isChecked={calendar.chosen} onChange={(chosen) => setCalendars(calendars.map((each) => (each === calendar ? { ...each, chosen } : each)))} />
          ))}
        </fieldset>
      )}
      <TextField label={t("What you call it")} maxLength={100} autocomplete="off" placeholder={source?.name ?? nameByAddress(address)} value={name} onValue={(value) => form.set("name", value)} error={problem?.fields["name"]} />
      <SelectField label={t("What happened before, too")} value={daysBack} options={daysBackOptions().some(([value]) => value === daysBack) ? daysBackOptions() : [...daysBackOptions(), [daysBack, daysBack]]} onValue={(value) => form.set("daysBack", value)} />
      {problem && !SHOWN_FIELDS.some((field) => problem.fields[field]) && <ProblemNote problem={problem} />}
      <div class="row">
        <button class="main" disabled={isBusy || !isComplete}>{says}</button>
        <button type="button" onClick={close}>{t("Cancel")}</button>
      </div>
    </form>
  );
}
