// The files that were dropped, chosen or pasted, before they are brought in: what each is, and what it would do.
import { effect, signal } from "@preact/signals";
import { type components, newId, RefusedError } from "contacts-client";
import { navigate, place, setQuery } from "../../app/router.ts";
import { account, connection } from "../../app/session.ts";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { keep } from "./kept.ts";
import { HEAD_BYTES, isTable, type Kind, recognise, type Wrong } from "./kinds.ts";
import { tableOfLines } from "./lines.ts";
import { unpack } from "./zip.ts";

export type Receipt = components["schemas"]["VCardImportReceipt"];
export type Result = Receipt["results"][number];

export interface Chosen {
  id: string;
  file: File;
  kind: Kind | null; // null: nobody can come out of it, `wrong` says why
  wrong: Wrong | "tooLarge" | null;
  isByHand: boolean; // the user has said what it is
  encoding: string; // empty: as it is found
  dateOrder: string;
  mapping: Readonly<Record<string, string>>; // what the user says that columns are, by their numbers
  state: "waiting" | "reading" | "read" | "failed" | "offline";
  isKept: boolean; // in this browser, until there is a network
  receipt: Receipt | null; // of the dry run
  problem: Problem | null;
}

export const chosen = signal<Chosen[]>([]);
// Who has chosen them: nothing of it is shown to another account.
let owner: string | undefined;
effect(() => {
  const id = account.value?.id;
  if (id !== owner) chosen.value = [];
  owner = id;
});
const PREVIEW = "/import?step=preview";
const NAME_WORD = /name|nom|nombre|navn|氏名|名前|姓/i;
const REACH_WORD = /phone|mobil|mail|tel[eé]|birth|geburt|naissance|cumple|fødsel|courriel|correo|電話|メール|誕生/i;
// Of a refusal: what the file is, where it was taken for something else.
const WRONG_OF_CODE: Record<string, Wrong> = {
  file_is_spreadsheet: "spreadsheet", file_is_document: "document", file_is_picture: "picture", file_is_archive: "archive", file_is_calendar: "calendar",
  file_is_html: "webPage", file_is_xml: "otherProgram", file_is_ldif: "otherProgram", file_is_json: "otherProgram", file_is_sql: "otherProgram",
  no_vcard: "unknown", no_header_row: "empty", not_a_text_file: "unknown", no_nametag_people: "otherProgram", no_monica_account: "otherProgram",
};

// Leads to the preview of these files.
export async function bring(files: readonly File[]): Promise<void> {
  if (files.length === 0) return;
  const found = (await Promise.all(files.map(open))).flat();
  chosen.value = isPreview() ? [...chosen.value, ...found] : found;
  if (!isPreview()) navigate(PREVIEW);
  await look();
}

// A text from the clipboard or typed: cards, a table, or lines.
export function bringText(text: string): Promise<void> {
  const { content, extension } = tableOfLines(text);
  return bring([new File([content], `clipboard.${extension}`)]);
}

// A table from the clipboard, if its columns are those of people: on any page.
export async function bringTable(text: string): Promise<void> {
  const header = text.trim().split(/[\r\n]/, 1)[0]!;
  const found = recognise(new TextEncoder().encode(text.slice(0, HEAD_BYTES / 4)));
  if ("kind" in found && (found.kind !== "csv" || (NAME_WORD.test(header) && REACH_WORD.test(header)))) await bringText(text);
}

export const isPreview = () => place.value.path === "/import" && place.value.query.get("step") === "preview";

export function change(id: string, changes: Partial<Pick<Chosen, "kind" | "encoding" | "dateOrder" | "mapping">>): Promise<void> {
  const byHand = "kind" in changes ? { isByHand: true, wrong: null, encoding: "", dateOrder: "", mapping: {} } : {};
  update(id, { ...byHand, ...changes, state: "waiting", receipt: null, problem: null });
  return look();
}

export function remove(id: string): void {
  chosen.value = chosen.value.filter((each) => each.id !== id);
  if (chosen.value.length === 0 && isPreview()) setQuery({ step: null });
}

async function open(file: File): Promise<Chosen[]> {
  const head = new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer());
  const found = recognise(head, new Uint8Array(await file.slice(-HEAD_BYTES).arrayBuffer()));
  if ("kind" in found) return [choose(file, found.kind, null)];
  const isZip = found.wrong === "archive" && head[0] === 0x50 && head[1] === 0x4b;
  const inside = isZip ? (await Promise.all((await unpack(file)).map(open))).flat().filter(({ kind }) => kind) : [];
  // An archive of a product has many tables; those of people are known by their columns.
  const certain = inside.filter(({ kind }) => kind !== "csv");
  if (inside.length) return certain.length ? certain : inside;
  return [choose(file, null, found.wrong)];
}

function choose(file: File, kind: Kind | null, wrong: Wrong | null): Chosen {
  return { id: newId(), file, kind, wrong, isByHand: false, encoding: "", dateOrder: "", mapping: {}, state: kind ? "waiting" : "failed", isKept: false, receipt: null, problem: null };
}

function update(id: string, changes: Partial<Chosen>): void {
  chosen.value = chosen.value.map((each) => (each.id === id ? { ...each, ...changes } : each));
}

let isLooking = false;

// Asks for each file that was not looked at what it would do; one after the other, as the service takes them.
export async function look(): Promise<void> {
  if (isLooking) return;
  isLooking = true;
  try {
    for (let next; (next = chosen.value.find(({ state }) => state === "waiting")); ) await lookAt(next);
  } finally {
    isLooking = false;
  }
}

// Once there is a network again.
export function lookAgain(): Promise<void> {
  chosen.value = chosen.value.map((each) => (each.state === "offline" ? { ...each, state: "waiting" } : each));
  return look();
}

async function lookAt(each: Chosen): Promise<void> {
  update(each.id, { state: "reading" });
  const isCurrent = () => chosen.value.some((now) => now.id === each.id && now.state === "reading");
  try {
    const receipt = (await connection.ask("POST", pathOf(each), formOf(each, { dryRun: "true" }))) as Receipt;
    if (isCurrent()) update(each.id, { state: "read", receipt });
  } catch (error) {
    if (!isCurrent()) return;
    const isTaken = !each.isByHand && error instanceof RefusedError && error.status === 400 && isTable(each.kind!) && each.kind !== "csv";
    if (isTaken) update(each.id, { kind: "csv", state: "waiting" }); // it looked like a product's table, and is another
    else if (error instanceof RefusedError) update(each.id, refusalOf(error));
    else update(each.id, { state: "offline", isKept: await keep(account.peek()!, each.file) });
  }
}

function refusalOf(error: RefusedError): Partial<Chosen> {
  if (error.status === 413) return { state: "failed", kind: null, wrong: "tooLarge" };
  const codes = ((error.body["details"] ?? []) as { code?: string }[]).map(({ code }) => code ?? "");
  const wrong = codes.flatMap((code) => WRONG_OF_CODE[code] ?? [])[0];
  return wrong ? { state: "failed", wrong } : { state: "failed", problem: problemOf(error) };
}

export function pathOf({ kind }: Chosen): string {
  return kind === "vcard" ? "/api/vcard/import" : `/api/import/${kind}`;
}

export function formOf({ file, kind, encoding, dateOrder, mapping }: Chosen, values: Record<string, string>): FormData {
  const form = new FormData();
  form.set("file", file);
  if (kind && isTable(kind)) {
    if (encoding) form.set("encoding", encoding);
    if (dateOrder) form.set("dateOrder", dateOrder);
    if (kind === "csv" && Object.keys(mapping).length) form.set("mapping", JSON.stringify(mapping));
  }
  for (const [name, value] of Object.entries(values)) form.set(name, value);
  return form;
}
