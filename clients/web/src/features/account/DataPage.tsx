// Everything the account owns: out, in, and away.
import { useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { connection, forgetAccount, useAccount } from "../../app/session.ts";
import { t, tn } from "../../i18n/index.ts";
import { TextField } from "../../ui/Field.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Page } from "../../ui/Page.tsx";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";

export default function DataPage() {
  return (
    <Page title={t("Your data")} back="/settings" width="form">
      <section class="card stack tight">
        <h2>{t("Export")}</h2>
        <p>{t("One file with everything that you have here, photos and settings included.")}</p>
        <p class="row">
          <a class="button" href="/api/user/export" download="contacts.json">{t("Download everything")}</a>
          <a class="button" href="/api/vcard/export" download="contacts.vcf">{t("Download all as vCards")}</a>
        </p>
      </section>
      <section class="card stack tight">
        <h2>{t("Import")}</h2>
        <p>{t("From a phone, an address book or another product.")}</p>
        <p class="row">
          <a class="button" href={href("/import")}>{t("Import people")}</a>
        </p>
      </section>
      <ImportAccount />
      <DeleteAccount />
    </Page>
  );
}

function ImportAccount() {
  const account = useAccount();
  const [problem, setProblem] = useState<Problem | null>(null);
  const [done, setDone] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const take = async (file: File | undefined) => {
    if (!file) return;
    setBusy(true);
    setProblem(null);
    try {
      const { imported, errorMessages } = await connection.ask("POST", "/api/user/import", JSON.parse(await file.text()));
      setDone([tn("{count} record was imported.", "{count} records were imported.", imported), ...errorMessages].join(" "));
      account.syncer.syncNow();
    } catch (error) {
      setProblem(error instanceof SyntaxError ? { text: t("This is no file of an export."), fields: {}, code: undefined } : problemOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <section class="card stack tight">
      <h2>{t("Bring an export back")}</h2>
      <p>{t("Of this account or of another one: what is in the file is added.")}</p>
      <p>
        <label class={`button file-button ${isBusy ? "off" : ""}`}>
          <Icon name="file" size={18} />
          {t("Choose the file of an export")}
          <input type="file" class="hidden-text" accept="application/json,.json" disabled={isBusy} onChange={({ currentTarget }) => void take(currentTarget.files?.[0])} />
        </label>
      </p>
      {isBusy && <p role="status"><progress /> {t("Is being read")}</p>}
      {done && <p class="banner" role="status">{done}</p>}
      <ProblemNote problem={problem} />
    </section>
  );
}

function DeleteAccount() {
  const account = useAccount();
  const { hasPassword } = account.settings.value;
  const [password, setPassword] = useState("");
  const [text, setText] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const remove = async (event: Event) => {
    event.preventDefault();
    setProblem(null);
    setBusy(true);
    try {
      await connection.ask("DELETE", "/api/user/delete", { confirmationText: text, ...(hasPassword ? { password } : {}) });
      await forgetAccount();
      location.href = "/";
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  return (
    <section class="card">
      <form class="stack" onSubmit={remove}>
        <h2>{t("Delete the account")}</h2>
        <p>{t("Everything is removed for good, here and on all devices. This cannot be undone.")}</p>
        {hasPassword && <TextField label={t("Password")} type="password" autocomplete="current-password" required value={password} onValue={setPassword} error={problem?.fields["password"]} />}
        <TextField label={t("Type DELETE")} autocomplete="off" required value={text} onValue={setText} error={problem?.fields["confirmationText"]} />
        {problem && Object.keys(problem.fields).length === 0 && <ProblemNote problem={problem} />}
        {isBusy && (
          <p role="status">
            <progress /> {t("Everything is being deleted. This may take a while.")}
          </p>
        )}
        <div><button class="danger" disabled={text !== "DELETE" || isBusy}>{t("Delete the account")}</button></div>
      </form>
    </section>
  );
}
