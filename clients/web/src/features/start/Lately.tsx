// The last entries of the account, and one of this day in an earlier year.
import { href } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { type Day, dayInWords, dayOf } from "../../i18n/days.ts";
import { formatList, t, tn } from "../../i18n/index.ts";
import { useMany } from "../../store/records.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { InteractionList, KindTile } from "../person/InteractionList.tsx";

const MAX_FACES = 3;

export function Lately({ ids, now }: { ids: string[]; now: Day }) {
  if (ids.length === 0) return null;
  return (
    <section class="section" aria-label={t("Lately")}>
      <header>
        <h2>{t("Lately")}</h2>
        <a class="button plain small no-print" href={href("/log")}>
          <Icon name="add" size={16} />
          {t("Log")}
        </a>
      </header>
      <InteractionList ids={ids} now={now} />
    </section>
  );
}

export function Memory({ id, now }: { id: string; now: Day }) {
  const account = useAccount();
  const { timezone } = account.settings.value;
  const entry = useMany("interaction", [id])?.get(id);
  if (!entry) return null;
  const day = dayOf(entry.at, timezone);
  const years = Number(now.slice(0, 4)) - Number(day.slice(0, 4));
  const people = entry.personIds.flatMap((personId) => account.person(personId) ?? []);
  const title = tn("A year ago", "{count} years ago", years);
  return (
    <section class="section" aria-label={title}>
      <header>
        <h2>{title}</h2>
      </header>
      <a class="card row nowrap memory" href={href(`/log?entry=${entry.id}`)}>
        <KindTile kind="NOTE" />
        <span class="grow small">
          <span class="lately-notes">{entry.notes || entry.title}</span>
          <span class="soft block">{[dayInWords(day, { day: "numeric", month: "long", year: "numeric" }), formatList(people.slice(0, MAX_FACES).map(({ name }) => name))].filter(Boolean).join(" · ")}</span>
        </span>
        <span class="pile">{people.slice(0, 1).map((person) => <Avatar key={person.id} person={person} size="small" />)}</span>
      </a>
    </section>
  );
}
