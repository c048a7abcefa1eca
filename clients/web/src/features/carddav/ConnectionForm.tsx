// The login of the server, new or changed. It is tried before it is saved: a connection that cannot work is not made. What
// was typed is a draft until then, but for the password.
import type { components } from "contacts-client";
import { useState } from "preact/hooks";
import { place } from "../../app/router.ts";
import { connection, useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { TextField } from "../../ui/Field.tsx";
import { useForm } from "../../ui/form.ts";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { toast } from "../../ui/toast.tsx";

type Link = components["schemas"]["ConnectionAnswer"];

export const connectionKey = (accountId: string, link: Link | null) => `${accountId} carddav ${link ? "change" : "new"}`;

interface Props {
  link: Link | null;
  onDone: () => Promise<void>;
  onClose?: () => void;
}

export function ConnectionForm({ link, onDone, onClose }: Props) {
  const { id: accountId } = useAccount();
  const form = useForm(connectionKey(accountId, link), () => ({ serverUrl: link?.serverUrl ?? place.value.query.get("server") ?? "", username: link?.username ?? "" }));
  const [password, setPassword] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const { serverUrl, username } = form.values.value;
  const close = () => {
    form.end();
    onClose?.();
  };
  const save = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      const { message } = await connection.ask("POST", "/api/carddav/connection/test", { serverUrl, username, password });
      if (link) await connection.ask("PUT", "/api/carddav/connection", { ...form.changes, password });
      else await connection.ask("POST", "/api/carddav/connection", { serverUrl, username, password });
      close();
      toast(message);
      await onDone();
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  return (
    <form class={link ? "stack" : "card stack"} onSubmit={save}>
      {link ? <h3>{t("Change the login")}</h3> : <h2>{t("Connect a server")}</h2>}
      <p>{link ? t("With another server or user, people are linked to its cards anew. The login is tried first.") : t("People are kept the same here and in an address book of Nextcloud, iCloud or another CardDAV server. The login is tried first.")}</p>
      {form.wasRestored && <p class="banner">{t("This is what you typed before. It was not saved yet.")}</p>}
      <TextField label={t("Address of the server")} type="text" inputMode="url" autocapitalize="off" required value={serverUrl} onValue={(value) => form.set("serverUrl", value)} error={problem?.fields["serverUrl"]} />
      <TextField label={t("User name on the server")} autocomplete="off" autocapitalize="off" required value={username} onValue={(value) => form.set("username", value)} error={problem?.fields["username"]} />
      <TextField label={t("Password")} type="password" autocomplete="off" required value={password} onValue={setPassword} error={problem?.fields["password"]} hint={t("With a second factor there, make an app password for it.")} />
      {problem && Object.keys(problem.fields).length === 0 && <ProblemNote problem={problem} />}
      <div class="row">
        <button class="main" disabled={isBusy}>{link ? t("Test and save") : t("Test and connect")}</button>
        {onClose && <button type="button" onClick={close}>{t("Cancel")}</button>}
      </div>
    </form>
  );
}
