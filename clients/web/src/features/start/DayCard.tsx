// Whose day it is, as a large card: write, call, mail, and done. Who was congratulated is done for the day.
import { href } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import type { Day } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { type Answers, answerInWords, Later } from "../dates/answers.tsx";
import { type Occurrence, occurrenceInWords, rowsOf } from "../dates/occurrences.ts";
import { Reach } from "../dates/Reach.tsx";
import { logOnce } from "../dates/touches.ts";
import type { Person } from "../person/entries.ts";
import { type LivesIn, localTimeInWords } from "./clock.ts";

interface Props {
  occurrence: Occurrence;
  person: Person | undefined;
  answers: Answers;
  minute: Date;
  now: Day;
  lives: LivesIn | null | undefined;
}

export function DayCard({ occurrence, person, answers, minute, now, lives }: Props) {
  const account = useAccount();
  const { row, isMemorial } = occurrence;
  const { name } = row;
  const what = occurrenceInWords(occurrence);
  if (isMemorial) {
    return (
      <section class="card row nowrap day-line" data-card tabIndex={-1} aria-label={what}>
        <Avatar person={row} />
        <a class="grow person-link row" href={href(`/people/${row.id}`)}>{what}</a>
      </section>
    );
  }
  const lines = [localTimeInWords(minute, account.settings.value.timezone, row, lives), answerInWords(answers.find(occurrence))];
  return (
    <section class="day-card" data-card tabIndex={-1} aria-label={what}>
      <Avatar person={row} size="big" />
      <div class="day-card-text">
        <p class="small day-card-when">{t("Today")}</p>
        <h2>
          <a href={href(`/people/${row.id}`)}>{what}</a>
        </h2>
        <p class="small">{lines.filter(Boolean).join(" · ")}</p>
      </div>
      <div class="row no-print">
        <Reach person={person} name={name} isWordy />
        <button data-key="d" onClick={() => void logOnce(account, rowsOf(occurrence), now)} aria-label={t("Done: {name}", { name })}>
          <Icon name="check" size={18} />
          {t("Done")}
        </button>
        <Later occurrence={occurrence} answers={answers} />
      </div>
    </section>
  );
}

// Who was congratulated today, or met, or called.
export function DoneCard({ occurrence }: { occurrence: Occurrence }) {
  const { row } = occurrence;
  return (
    <section class="card row nowrap day-line" aria-label={occurrenceInWords(occurrence)}>
      <Avatar person={row} />
      <a class="grow person-link row tight" href={href(`/people/${row.id}`)}>
        <span>
          {occurrenceInWords(occurrence)}
          <span class="block soft small">{t("You were in touch today.")}</span>
        </span>
      </a>
      <span class="tile kind-touch">
        <Icon name="check" size={18} />
      </span>
    </section>
  );
}
