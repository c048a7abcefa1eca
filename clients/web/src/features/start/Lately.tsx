// The last entries of the account, and one of this day in an earlier year.
import type { ComponentChildren } from "preact";
import { href } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { clockInWords, type Day, dayInWords, dayOf, nearDayInWords } from "../../i18n/days.ts";
import { formatList, t, tn } from "../../i18n/index.ts";
import type { PersonRow } from "../../store/people.ts";
import { useMany } from "../../store/records.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { type Interaction, kindLabel, kindOf } from "../person/interactions.ts";

const MAX_FACES = 3;

export function Lately({ ids, now }: { ids: string[]; now: Day }) {
  const account = useAccount();
  const { timezone } = account.settings.value;
  const records = useMany("interaction", ids);
  if (ids.length === 0) return null;
  const whenOf = ({ at }: Interaction) => {
    const day = dayOf(at, timezone);
    return day === now ? `${nearDayInWords(day, now)}, ${clockInWords(new Date(at), timezone)}` : nearDayInWords(day, now);
  };
  return (
    <section class="section" aria-label={t("Lately")}>
      <header>
        <h2>{t("Lately")}</h2>
        <a class="button plain small no-print" href={href("/log")}>
          <Icon name="add" size={16} />
          {t("Log")}
        </a>
      </header>
      <ol class="card day-rows lately">
        {ids.flatMap((id) => records?.get(id) ?? []).map((each) => (
          <li key={each.id}>
            <KindTile kind={each.kind} />
            <div>
              <p class="row lately-head">
                <a href={href(`/log?entry=${each.id}`)}>{each.title || kindLabel(each.kind)}</a> <span class="soft small">{whenOf(each)}</span>
              </p>
              {each.notes && <p class="lately-notes">{each.notes}</p>}
              <With people={each.personIds.flatMap((personId) => account.person(personId) ?? [])} />
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}

function KindTile({ kind }: { kind: Interaction["kind"] }) {
  const { icon, tone } = kindOf(kind);
  return (
    <span class={`tile kind-${tone}`}>
      <Icon name={icon} size={18} />
    </span>
  );
}

function With({ people }: { people: PersonRow[] }) {
  if (people.length === 0) return null;
  const shown = people.slice(0, MAX_FACES);
  const names: ComponentChildren = people.length > MAX_FACES ? tn("with {names} and {count} more", "with {names} and {count} more", people.length - MAX_FACES, { names: shown.map(({ name }) => name).join(", ") }) : t("with {names}", { names: formatList(shown.map(({ name }) => name)) });
  return (
    <p class="row nowrap soft small">
      <span class="pile">{shown.map((person) => <Avatar key={person.id} person={person} size="small" />)}</span>
      <span>{names}</span>
    </p>
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
