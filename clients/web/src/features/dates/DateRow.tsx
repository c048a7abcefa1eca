// A date in a list: its day as a leaf, whose it is, and its reminder as a switch.
import type { ComponentChildren } from "preact";
import { href } from "../../app/router.ts";
import { type Day, daysBetween } from "../../i18n/days.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Bell } from "./Bell.tsx";
import { Leaf } from "./Leaf.tsx";
import { type Occurrence, occurrenceInWords, rowsOf } from "./occurrences.ts";

const NEAR_DAYS = 7;

interface Props {
  occurrence: Occurrence;
  now: Day;
  when: string | null; // the second line
  isSmall?: boolean;
  children?: ComponentChildren; // buttons before the bell
}

export function DateRow({ occurrence, now, when, isSmall = false, children }: Props) {
  const { row, date, day } = occurrence;
  const what = occurrenceInWords(occurrence);
  return (
    <li class="date-row">
      <Leaf day={day} tone={date === null ? "touch" : daysBetween(now, day) < NEAR_DAYS ? "" : "far"} />
      <span class="pile">
        {rowsOf(occurrence).map((each) => <Avatar key={each.id} person={each} size={isSmall ? "small" : undefined} />)}
      </span>
      <a class="reach-text" href={href(`/people/${row.id}`)}>
        <b>{what}</b> {when && <span class="soft small block capital">{when}</span>}
      </a>
      <span class="reach-buttons">
        {children}
        {date && <Bell dates={[date, occurrence.with?.date].filter((each) => each != null)} what={what} />}
      </span>
    </li>
  );
}
