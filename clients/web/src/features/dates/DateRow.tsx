// A date in a list: its day as a leaf, whose it is, and its reminder as a switch.
import type { ComponentChildren } from "preact";
import { href } from "../../app/router.ts";
import { t } from "../../i18n/index.ts";
import { Empty } from "../../ui/Empty.tsx";
import { type Day, daysBetween } from "../../i18n/days.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { occasion } from "../person/dates.ts";
import { Bell, remindersOf } from "./Bell.tsx";
import { Leaf } from "./Leaf.tsx";
import { coupleInWords, type Occurrence, occurrenceInWords, rowsOf } from "./occurrences.ts";

const NEAR_DAYS = 7;

interface Props {
  occurrence: Occurrence;
  now: Day;
  when: string | null; // the second line
  isSmall?: boolean;
  hasBell?: boolean;
  children?: ComponentChildren; // buttons before the bell
}

export function DateRow({ occurrence, now, when, isSmall = false, hasBell = true, children }: Props) {
  const { row, date, day } = occurrence;
  const what = occurrenceInWords(occurrence);
  const [title, second] = occurrence.with ? [coupleInWords(occurrence), [occasion(date!), when].filter(Boolean).join(" · ")] : [what, when];
  return (
    <li class="date-row">
      <Leaf day={day} tone={date === null ? "touch" : daysBetween(now, day) < NEAR_DAYS ? "" : "far"} />
      <span class="pile">
        {rowsOf(occurrence).map((each) => <Avatar key={each.id} person={each} size={isSmall ? "small" : undefined} />)}
      </span>
      <a class="reach-text" href={href(`/people/${row.id}`)}>
        <b>{title}</b> {second && <span class="soft small block capital">{second}</span>}
      </a>
      <span class="reach-buttons">
        {children}
        {date && hasBell && <Bell dates={remindersOf(occurrence)} what={what} />}
      </span>
    </li>
  );
}

export function NoDates() {
  return (
    <Empty kind="date" title={t("No dates yet")}>
      <p>{t("A birthday on a person's page is enough, and you are told in time.")}</p>
      <p class="row"><a class="button" href={href("/dates/new")}>{t("Add a birthday")}</a></p>
    </Empty>
  );
}
