// A day as the leaf of a calendar.
import { type Day, dayInWords } from "../../i18n/days.ts";

export function Leaf({ day, tone }: { day: Day; tone: "" | "far" | "touch" }) {
  return (
    <span class={`leaf ${tone}`} aria-hidden="true">
      <b>{dayInWords(day, { day: "numeric" }).replace(/\D/g, "")}</b>
      <span>{dayInWords(day, { month: "short" }).replace(/\.$/, "")}</span>
    </span>
  );
}
