// Entries of what there was with people, in the order of their ids: what, when, with whom.
import type { ComponentChildren } from "preact";
import { href } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { clockInWords, type Day, dayOf, nearDayInWords } from "../../i18n/days.ts";
import { formatList, t, tn } from "../../i18n/index.ts";
import type { PersonRow } from "../../store/people.ts";
import { useMany } from "../../store/records.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { type Interaction, kindLabel, kindOf } from "./interactions.ts";
import "../dates/dates.css";
import "./interactionList.css";

const MAX_FACES = 3;

export function InteractionList({ ids, now }: { ids: readonly string[]; now: Day }) {
  const account = useAccount();
  const { timezone } = account.settings.value;
  const records = useMany("interaction", ids);
  const whenOf = ({ at }: Interaction) => {
    const day = dayOf(at, timezone);
    return day === now ? `${nearDayInWords(day, now)}, ${clockInWords(new Date(at), timezone)}` : nearDayInWords(day, now);
  };
  return (
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
  );
}

export function KindTile({ kind }: { kind: Interaction["kind"] }) {
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
