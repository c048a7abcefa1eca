// How often a contact reminder comes.
import { t, tn } from "../../i18n/index.ts";

export function intervals(): [value: string, label: string][] {
  return [
    ["never", t("Never")],
    ["1 WEEKS", t("Every week")],
    ["2 WEEKS", t("Every two weeks")],
    ["1 MONTHS", t("Every month")],
    ["3 MONTHS", t("Every three months")],
    ["6 MONTHS", t("Every half year")],
    ["1 YEARS", t("Every year")],
  ];
}

export function intervalLabel(interval: number, unit: string): string {
  const known = intervals().find(([value]) => value === `${interval} ${unit}`)?.[1];
  if (known) return known;
  if (unit === "DAYS") return tn("Every day|counted", "Every {count} days", interval);
  if (unit === "WEEKS") return tn("Every week|counted", "Every {count} weeks", interval);
  if (unit === "MONTHS") return tn("Every month|counted", "Every {count} months", interval);
  return tn("Every year|counted", "Every {count} years", interval);
}
