// What is said of files and of what became of the people in them.
import { t, tn } from "../../i18n/index.ts";
import type { Chosen, Result } from "./files.ts";

export function wrongInWords({ wrong, file: { name } }: Pick<Chosen, "wrong" | "file">): string {
  switch (wrong) {
    case "account":
      return t("{name} is the whole account of this product. It comes in at Your data.", { name });
    case "archive":
      return t("{name} is packed. Unpack it, and bring the file that is in it.", { name });
    case "calendar":
      return t("{name} is a calendar: it has days, but no people.", { name });
    case "document":
      return t("{name} is a document. Save the people in it as a table (CSV).", { name });
    case "empty":
      return t("{name} is empty.", { name });
    case "otherProgram":
      return t("{name} is another program’s own file. Have that program save its people as vCard or CSV.", { name });
    case "picture":
      return t("{name} is a picture.", { name });
    case "spreadsheet":
      return t("{name} is a spreadsheet. Open it there, and save it as CSV.", { name });
    case "tooLarge":
      return t("{name} is too large. Save it without photos, or in several files.", { name });
    case "webPage":
      return t("{name} is a web page. Save the people on it as a table (CSV).", { name });
    default:
      return t("Nobody was found in {name}.", { name });
  }
}

export function countsInWords({ imported, updated, errors }: { imported: number; updated: number; errors: number }): string {
  return [
    tn("{count} added", "{count} added", imported),
    updated > 0 && tn("{count} completed", "{count} completed", updated),
    errors > 0 && tn("{count} not read", "{count} not read", errors),
  ].filter(Boolean).join(", ");
}

// What is the same for many is said once, with how many it concerns.
const TOGETHER = new Set(["plan_people", "reminder_limit", "reminder_off", "encoding_uncertain", "date_order_uncertain", "group_over_plan", "not_tried", "import_undone"]);

export interface Attention {
  single: { result: Result; texts: string[] }[];
  together: { code: string; text: string; count: number }[];
}

// What is to be looked at of these results.
export function attentionOf(results: readonly Result[]): Attention {
  const single: Attention["single"] = [];
  const together = new Map<string, { code: string; text: string; count: number }>();
  for (const result of results) {
    const texts: string[] = [];
    for (const { code, text } of remarksOf(result)) {
      const known = together.get(code);
      if (!TOGETHER.has(code)) texts.push(text);
      else if (known) known.count++;
      else together.set(code, { code, text, count: 1 });
    }
    if (texts.length) single.push({ result, texts });
  }
  return { single, together: [...together.values()] };
}

export const needsLook = (result: Result) => remarksOf(result).length > 0;

function remarksOf({ status, code, reason, remarks }: Result): { code: string; text: string }[] {
  if (status === "skipped" && code === "nothing_new") return [];
  const all = remarks ?? (reason ? [{ code: code ?? "", text: reason }] : status === "error" ? [{ code: "", text: t("It could not be read.") }] : []);
  return all.map(({ code, text }) => ({ code, text: code === "outside_card" ? t("Text between the people belongs to nobody.") : capital(text) }));
}

function capital(text: string): string {
  return text.slice(0, 1).toLocaleUpperCase() + text.slice(1);
}
