// Coming from a phone or another product: a file is looked at first where the service can, then taken; each import can be
// undone.
import type { components } from "contacts-client";
import { useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { connection, useAccount } from "../../app/session.ts";
import { timeInWords } from "../../i18n/days.ts";
import { t, tn } from "../../i18n/index.ts";
import { useRemote } from "../../store/remote.ts";
import { SelectField } from "../../ui/Field.tsx";
import { Page } from "../../ui/Page.tsx";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { toast } from "../../ui/toast.tsx";

type Receipt = components["schemas"]["VCardImportReceipt"];
type Import = components["schemas"]["ContactImport"];

// Where files come from. Only vCards have no dry run: an import of them is undone instead.
const SOURCES = [
  { id: "vcard", label: "Phone, address book (vCard)", accept: ".vcf,.vcard,text/vcard" },
  { id: "google", label: "Google Contacts (CSV)", accept: ".csv" },
  { id: "outlook", label: "Outlook (CSV)", accept: ".csv" },
  { id: "linkedin", label: "LinkedIn (CSV)", accept: ".csv" },
  { id: "monica", label: "Monica (JSON or SQL)", accept: ".json,.sql" },
  { id: "nametag", label: "Nametag (JSON)", accept: ".json" },
  { id: "csv", label: "Another table (CSV)", accept: ".csv,.tsv,.txt" },
];
const SHOWN_RESULTS = 50;

export default function ImportPage() {
  const account = useAccount();
  const [source, setSource] = useState("vcard");
  const [file, setFile] = useState<File | null>(null);
  const [receipt, setReceipt] = useState<{ body: Receipt; isPreview: boolean } | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [found, reload] = useRemote("imports", async (signal) => (await connection.ask("GET", "/api/imports", undefined, { signal }))["imports"] as Import[]);
  const chosen = SOURCES.find(({ id }) => id === source)!;

  const attempt = async (work: () => Promise<void>) => {
    setProblem(null);
    setBusy(true);
    try {
      await work();
    } catch (error) {
      setProblem(problemOf(error));
    } finally {
      setBusy(false);
    }
  };
  const send = (isPreview: boolean) =>
    attempt(async () => {
      const form = new FormData();
      form.set("file", file!);
      if (isPreview) form.set("dryRun", "true");
      const path = source === "vcard" ? "/api/vcard/import" : `/api/import/${source}`;
      setReceipt({ body: (await connection.ask("POST", path, form)) as Receipt, isPreview });
      if (isPreview) return;
      account.syncer.syncNow();
      await reload();
    });
  const undo = (id: string) =>
    attempt(async () => {
      const { removed, kept } = await connection.ask("DELETE", `/api/imports/${id}`);
      toast([tn("{count} person went to the trash.", "{count} people went to the trash.", removed), kept.length > 0 && tn("{count} stays, since it was changed.", "{count} stay, since they were changed.", kept.length)].filter(Boolean).join(" "));
      setReceipt(null);
      account.syncer.syncNow();
      await reload();
    });

  return (
    <Page title={t("Import")} back="/account/data">
      <form
        class="card stack"
        onSubmit={(event) => {
          event.preventDefault();
          void send(false);
        }}
      >
        <SelectField
          label={t("Where the file comes from")}
          value={source}
          options={SOURCES.map(({ id, label }) => [id, t(label)] as const)}
          onValue={(id) => {
            setSource(id);
            setReceipt(null);
          }}
        />
        <label class="field">
          <span class="label">{t("The file")}</span>
          <input
            type="file"
            accept={chosen.accept}
            required
            onChange={({ currentTarget }) => {
              setFile(currentTarget.files?.[0] ?? null);
              setReceipt(null);
            }}
          />
        </label>
        <p class="soft small">{t("Importing a file twice adds nobody twice, and each import can be undone.")}</p>
        <div class="row">
          <button class="main" disabled={!file || isBusy}>
            {t("Import")}
          </button>
          {source !== "vcard" && (
            <button type="button" disabled={!file || isBusy} onClick={() => void send(true)}>
              {t("Show what it would do")}
            </button>
          )}
        </div>
        {isBusy && <p role="status">{t("Reading the file …")}</p>}
        <ProblemNote problem={problem} />
      </form>
      {receipt && <ReceiptCard {...receipt} onUndo={undo} />}
      <ProblemNote problem={found.value.problem} onRetry={() => void reload()} />
      {found.value.data && found.value.data.length > 0 && <History imports={found.value.data} zone={account.settings.value.timezone} onUndo={undo} />}
    </Page>
  );
}

function ReceiptCard({ body, isPreview, onUndo }: { body: Receipt; isPreview: boolean; onUndo: (id: string) => void }) {
  const told = body.results.filter(({ status, reason }) => status === "error" || reason);
  return (
    <section class="card stack tight" role="status">
      <h2>{isPreview ? t("What the import would do") : t("What the import did")}</h2>
      <p>
        {[
          tn("{count} person added.", "{count} people added.", body.imported),
          body.updated > 0 && tn("{count} changed.", "{count} changed.", body.updated),
          body.skipped > 0 && tn("{count} was there already.", "{count} were there already.", body.skipped),
          body.errors > 0 && tn("{count} could not be read.", "{count} could not be read.", body.errors),
        ]
          .filter(Boolean)
          .join(" ")}
      </p>
      {told.length > 0 && (
        <ul class="plain-lines">
          {told.slice(0, SHOWN_RESULTS).map(({ index, name, personId, reason, remarks }) => (
            <li key={index}>
              <bdi>{personId && !isPreview ? <a href={href(`/people/${personId}`)}>{name}</a> : <strong>{name || t("Entry {number} of the file", { number: index + 1 })}</strong>}</bdi>
              <span class="soft small block">{remarks ? remarks.map(({ text }) => text).join("; ") : reason}</span>
            </li>
          ))}
        </ul>
      )}
      {told.length > SHOWN_RESULTS && <p class="soft small">{tn("{count} more is not shown.", "{count} more are not shown.", told.length - SHOWN_RESULTS)}</p>}
      <div class="row">
        {!isPreview && (
          <a class="button" href={href("/people")}>
            {t("To the people")}
          </a>
        )}
        {!isPreview && body.importId && <button onClick={() => onUndo(body.importId!)}>{t("Undo this import")}</button>}
      </div>
    </section>
  );
}

function History({ imports, zone, onUndo }: { imports: Import[]; zone: string | null; onUndo: (id: string) => void }) {
  return (
    <section class="card stack tight">
      <h2>{t("Imports so far")}</h2>
      <ul class="plain-lines">
        {imports.map(({ id, source, fileName, createdAt, imported, undoneAt }) => {
          const label = SOURCES.find((each) => each.id === source)?.label;
          const name = fileName || (label ? t(label) : source);
          return (
            <li key={id} class="row apart">
              <span>
                <bdi>{name}</bdi>
                <span class="soft small block">
                  {timeInWords(createdAt, zone)} · {undoneAt ? t("undone") : tn("{count} person added.", "{count} people added.", imported)}
                </span>
              </span>
              {!undoneAt && (
                <button aria-label={`${t("Undo this import")}: ${name}`} onClick={() => onUndo(id)}>
                  {t("Undo")}
                </button>
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
