// Who it is time to get in touch with, with the reason.
import { href } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import type { Day } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { isPhone } from "../../ui/media.ts";
import { type Answers, Later } from "../dates/answers.tsx";
import type { Occurrence } from "../dates/occurrences.ts";
import { Reach, writeItems } from "../dates/Reach.tsx";
import { logOnce } from "../dates/touches.ts";
import type { Person } from "../person/entries.ts";
import { reasonInWords } from "./reasons.ts";

interface Props {
  due: Occurrence[];
  count: number; // of all, of which these are the first
  records: ReadonlyMap<string, Person>;
  answers: Answers;
  now: Day;
}

export function DueList({ due, count, records, answers, now }: Props) {
  const account = useAccount();
  return (
    <section class="section" aria-label={t("Time to get in touch")}>
      <header>
        <h2>{t("Time to get in touch")}</h2>
        {count > due.length && (
          <a class="button plain small" href={href("/dates?view=list&kind=contact")}>
            {t("All {count}", { count })}
          </a>
        )}
      </header>
      <ul class="card day-rows due-rows">
        {due.map((each) => {
          const { row } = each;
          const person = records.get(row.id);
          return (
            <li key={each.id} class="reach-row" data-card tabIndex={-1}>
              <Avatar person={row} />
              <a class="reach-text" href={href(`/people/${row.id}`)}>
                <bdi class="reach-name">{row.name}</bdi> <span class="soft small block">{person && reasonInWords(person, now, isPhone.value)}</span>
              </a>
              <span class="reach-buttons no-print">
                <Reach person={person} name={row.name} isCallAlone={isPhone.value} />
                <Later occurrence={each} answers={answers} others={isPhone.value ? writeItems(account, person) : []} />
                <button class="plain icon" data-key="d" onClick={() => void logOnce(account, [row], now)} aria-label={t("Done: {name}", { name: row.name })}>
                  <Icon name="check" size={18} />
                </button>
              </span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
