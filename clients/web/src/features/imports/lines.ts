// People that were typed or copied: cards and tables as they are; lines such as "Ana García, +34 600 111 222" as a table.

const MAIL = /[^\s<>,;()"']+@[^\s<>,;()"']+\.[^\s<>,;()"']+/;
const PHONE = /[+(]?\d[\d ()./-]{4,}\d/;

export function tableOfLines(text: string): { content: string; extension: "vcf" | "csv" | "json" } {
  const trimmed = text.trim();
  if (/^(item\d+\.)?BEGIN\s*:\s*VCARD/i.test(trimmed)) return { content: trimmed, extension: "vcf" };
  if (/^[{[]/.test(trimmed)) return { content: trimmed, extension: "json" };
  const lines = trimmed.split(/\r\n|\r|\n/).filter((line) => line.trim());
  if (isTableText(lines)) return { content: trimmed, extension: "csv" };
  const rows = lines.map((line) => {
    const email = MAIL.exec(line)?.[0] ?? "";
    const phone = PHONE.exec(line.replace(email, ""))?.[0].trim() ?? "";
    const name = line.replace(email, "").replace(phone, "").replace(/[<>,;:\t"()]+/g, " ").replace(/\s+/g, " ").replace(/^[-–•*\s]+|[-–\s]+$/g, "");
    return [name, phone, email];
  });
  return { content: [["full name", "phone", "email"], ...rows].map((row) => row.map(quote).join(",")).join("\n"), extension: "csv" };
}

// A table has names of columns, each without a number or an address, and all lines are as wide.
export function isTableText(lines: string[]): boolean {
  const [header, ...rows] = lines;
  const mark = ["\t", ";", ",", "|"].find((each) => header?.includes(each));
  if (!header || !mark || rows.length === 0 || MAIL.test(header) || PHONE.test(header)) return mark === "\t";
  const widths = lines.map((line) => line.split(mark).length);
  return mark === "\t" || widths.filter((width) => width >= widths[0]!).length > lines.length / 2;
}

function quote(cell: string): string {
  return `"${cell.replaceAll('"', '""')}"`;
}
