// What files would do, before anything is written.
import { useEffect, useRef, useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { formatNumber, t, tn } from "../../i18n/index.ts";
import { SelectField } from "../../ui/Field.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { Page } from "../../ui/Page.tsx";
import { Choices } from "./Choices.tsx";
import { Columns } from "./Columns.tsx";
import { FileButton } from "./FileButton.tsx";
import { change, type Chosen, chosen, look, lookAgain, remove } from "./files.ts";
import { start } from "./jobs.ts";
import { isTable, type Kind, KINDS } from "./kinds.ts";
import { namesakesOf } from "./namesakes.ts";
import { Rows } from "./Rows.tsx";
import { needsLook, wrongInWords } from "./words.ts";

export function Preview() {
  const account = useAccount();
  const files = chosen.value;
  const ready = files.filter(({ receipt }) => receipt);
  const receipts = ready.map(({ receipt }) => receipt!);
  const results = receipts.flatMap((receipt) => receipt.results);
  const sum = (name: "imported" | "updated" | "skipped" | "birthdays") => receipts.reduce((total, receipt) => total + receipt[name], 0);
  const namesakes = namesakesOf(account, results);
  const isReading = files.some(({ state }) => state === "waiting" || state === "reading");
  const [groupId, setGroupId] = useState("");
  const standard = account.settings.value.dateReminderDefault;
  const [isReminding, setReminding] = useState(standard !== "none");
  const coming = sum("imported") + (groupId ? sum("skipped") : 0) + sum("updated");
  const button = useRef<HTMLButtonElement>(null);
  // Enter is enough: nobody has to look for the button.
  useEffect(() => {
    if (!isReading && coming > 0) button.current?.focus({ preventScroll: true });
  }, [isReading, coming > 0]);
  useEffect(() => {
    const again = () => void lookAgain();
    addEventListener("online", again);
    void look();
    return () => removeEventListener("online", again);
  }, []);
  const found = results.filter(({ status }) => status !== "error").length;
  const title = files.length === 1 ? files[0]!.file.name : tn("{count} file", "{count} files", files.length);
  const bringIn = () => {
    const remind = !isReminding ? "none" : standard === "all" ? "all" : "birthdays";
    start(account, ready, { remind, ...(groupId && { groupIds: JSON.stringify([groupId]) }) });
  };
  return (
    <Page title={title} heading={<bdi>{title}</bdi>} back="/import" width="form">
      {isReading ? (
        <div class="card stack tight" role="status">
          <p>{t("Reading {name} …", { name: files.find(({ state }) => state === "reading" || state === "waiting")!.file.name })}</p>
          <progress aria-label={t("Reading the file")} />
        </div>
      ) : (
        ready.length > 0 && <p class="soft" role="status">{tn("{count} person found", "{count} people found", found)} · {t("nothing is written yet")}</p>
      )}
      {ready.length > 0 && (
        <>
          <ul class="sums">
            <Sum kind="touch" count={sum("imported")} label={tn("new person", "new people", sum("imported"))} />
            <Sum kind="accent" count={sum("updated")} label={t("already here, get more")} />
            <Sum kind="note" count={results.filter((result) => needsLook(result) || namesakes.has(result)).length} label={t("to look at")} />
            <Sum kind="date" count={sum("birthdays")} label={tn("birthday", "birthdays", sum("birthdays"))} />
          </ul>
          {coming === 0 && !isReading && <p class="banner">{found > 0 ? t("Everybody in it is here already, with all that it says.") : t("Nobody was found whom it could bring.")}</p>}
          <Rows results={results} namesakes={namesakes} />
          <Choices birthdays={sum("birthdays")} isReminding={isReminding} onReminding={setReminding} groupId={groupId} onGroup={setGroupId} />
        </>
      )}
      <Files files={files} />
      {ready.length > 0 ? (
        <footer class="page-foot">
          <span class="soft small grow">{t("The whole import can be undone.")}</span>
          <FileButton class="button" label={t("Another file")} />
          <button ref={button} class="main" disabled={isReading || coming === 0} onClick={bringIn}>
            {tn("Bring in {count} person", "Bring in {count} people", coming)}
          </button>
        </footer>
      ) : (
        !isReading && <p class="row"><FileButton class="button main" label={t("Choose files")} /></p>
      )}
    </Page>
  );
}

function Sum({ kind, count, label }: { kind: string; count: number; label: string }) {
  return (
    <li class={`sum kind-${kind}`}>
      <strong>{formatNumber(count)}</strong> <span>{label}</span>
    </li>
  );
}

function Files({ files }: { files: Chosen[] }) {
  const isWrong = files.some(({ wrong }) => wrong);
  return (
    <section class="section">
      <header><h2>{files.length === 1 ? t("The file") : t("The files")}</h2></header>
      <ul class="card flush lines">
        {files.map((each) => <FileLine key={each.id} each={each} isOnly={files.length === 1} />)}
      </ul>
      {isWrong && <p class="soft small">{t("The right ones: contacts of a phone or an address book (.vcf); tables of Google, Outlook, LinkedIn or your own (.csv); exports of Monica (.json, .sql) and Nametag (.json). Also packed (.zip).")}</p>}
    </section>
  );
}

function FileLine({ each, isOnly }: { each: Chosen; isOnly: boolean }) {
  const { id, file, kind, wrong, state, receipt, problem, isKept } = each;
  const label = KINDS.find((known) => known.id === kind)?.label;
  return (
    <li class="file-line">
      <div class="row apart">
        <p class="grow">
          <strong><bdi>{file.name}</bdi></strong>
          <span class="soft small block">{[label && t(label), receipt && tn("{count} person found", "{count} people found", receipt.imported + receipt.updated + receipt.skipped), state === "reading" && t("is being read"), state === "waiting" && t("waits")].filter(Boolean).join(" · ")}</span>
        </p>
        {!isOnly && <button class="plain icon" onClick={() => remove(id)} aria-label={t("Leave out {name}", { name: file.name })}><Icon name="close" /></button>}
      </div>
      {wrong && <p class="error" role="alert">{wrongInWords(each)} {wrong === "account" && <a href={href("/account/data")}>{t("Your data")}</a>}</p>}
      {state === "offline" && <p class="banner warning" role="status">{isKept ? t("There is no network. The file is kept in this browser until there is one.") : t("There is no network, and no more room for files here. Choose it again later.")}</p>}
      <ProblemNote problem={problem} />
      {state !== "offline" && <OtherKind each={each} />}
    </li>
  );
}

// How letters look in each encoding: nobody has to know its name.
const ENCODINGS = [
  ["utf-8", "ä é ł я あ (UTF-8)"], ["windows-1252", "ä é ñ ø (Windows-1252)"], ["windows-1250", "ą č ő ř (Windows-1250)"], ["windows-1251", "я ж щ (Windows-1251)"],
  ["windows-1253", "α β ω (Windows-1253)"], ["windows-1254", "ğ ı ş (Windows-1254)"], ["windows-1255", "א ב ג (Windows-1255)"], ["windows-1256", "ا ب ت (Windows-1256)"],
  ["shift_jis", "あ 亜 (Shift JIS)"], ["gb18030", "中 国 (GB 18030)"], ["big5", "中 國 (Big5)"], ["euc-kr", "가 나 (EUC-KR)"],
] as const;

function OtherKind({ each }: { each: Chosen }) {
  const { id, kind, receipt, problem, encoding, dateOrder } = each;
  const codes = new Set(receipt?.results.flatMap(({ code, remarks }) => [code, ...(remarks ?? []).map((remark) => remark.code)]));
  const isTabular = kind !== null && isTable(kind);
  return (
    <>
      {isTabular && (encoding || codes.has("encoding_uncertain") || problem?.fields["encoding"]) && (
        <SelectField label={t("How its letters are written")} value={encoding} options={[["", t("as it was found")], ...ENCODINGS]} onValue={(value) => void change(id, { encoding: value })} />
      )}
      {isTabular && (dateOrder || codes.has("date_order_uncertain")) && (
        <SelectField label={t("Days such as 4/3/1980 are")} value={dateOrder} options={[["", t("as it was found")], ["DMY", t("day, month, year")], ["MDY", t("month, day, year")], ["YMD", t("year, month, day")]]} onValue={(value) => void change(id, { dateOrder: value })} />
      )}
      {kind === "csv" && <Columns key={id} each={each} />}
      <details class="other-kind">
        <summary>{t("It is another kind of file")}</summary>
        <SelectField label={t("What it is")} value={kind ?? ""} options={[...(kind ? [] : [["", t("not known")] as const]), ...KINDS.map(({ id: value, label }) => [value, t(label)] as const)]} onValue={(value) => value && void change(id, { kind: value as Kind })} />
      </details>
    </>
  );
}
