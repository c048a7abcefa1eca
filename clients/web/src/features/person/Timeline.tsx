// What there was with a person, the latest first, and above it what comes.
import { useState } from "preact/hooks";
import { navigate } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { type Day, dayInWords, dayOf, daysBetween, daysFromNow, timeInWords, today } from "../../i18n/days.ts";
import { formatList, t, tn } from "../../i18n/index.ts";
import { useRecordsOf } from "../../store/records.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Icon, type IconName } from "../../ui/Icon.tsx";
import { Menu } from "../../ui/Menu.tsx";
import { Lock } from "../sharing/Lock.tsx";
import { Composer } from "./Composer.tsx";
import { type ImportantDate, nextOccurrence, occasion, yearsInWords } from "./dates.ts";
import type { Person } from "./entries.ts";
import { deleteInteraction, type Interaction, type Kind, kindLabel, kindOf } from "./interactions.ts";
import { Notes } from "./Notes.tsx";

const SHOWN_AT_FIRST = 10;
const COMING_DAYS = 60;
const MIN_FILTERED = 6; // entries, before a filter is offered

interface Item {
  key: string;
  day: Day;
  tone: "date" | "touch" | "note" | "tie" | "place";
  icon: IconName;
  text: string;
  when: string;
  words?: string | undefined;
  entry?: Interaction;
}

export function Timeline({ person, name }: { person: Person; name: string }) {
  const account = useAccount();
  const { settings } = account;
  const [isWhole, setWhole] = useState(false);
  const [only, setOnly] = useState<"all" | "touch" | "note">("all");
  const interactions = useRecordsOf("interaction", person.id).value;
  const dates = useRecordsOf("importantDate", person.id).value;
  const { timezone } = settings.value;
  const now = today(timezone);
  const entries = [...(interactions ?? [])].sort((one, other) => (one.at > other.at ? -1 : 1));
  const past: Item[] = [
    ...entries.map((entry) => toItem(entry, now, timezone)),
    ...(only === "all" ? memories(person, dates ?? [], now, timezone) : []),
  ].filter(({ tone }) => only === "all" || tone === only);
  past.sort((one, other) => (one.day === other.day ? 0 : one.day > other.day ? -1 : 1));
  const coming = only === "all" ? comingItems(person, account.person(person.id)?.contactDue ?? null, dates ?? [], now, settings.value.leapDayRule) : [];
  const shown = isWhole ? past : past.slice(0, SHOWN_AT_FIRST);
  const called = person.nickname || person.name;
  const usualKind: Kind = entries[0]?.kind ?? "CALL";
  const first = past.at(-1);
  return (
    <section class="section together" id="person-together" aria-label={t("Together")}>
      <header>
        <h2>{t("Together")}</h2>
        <Lock person={person} field="always" />
        {entries.length >= MIN_FILTERED && (
          <Menu
            class="plain small no-print"
            label={t("What is shown of the time together")}
            items={[
              { label: t("Everything"), isChecked: only === "all", onSelect: () => setOnly("all") },
              { label: t("Being in touch"), isChecked: only === "touch", onSelect: () => setOnly("touch") },
              { label: t("Gifts and notes"), isChecked: only === "note", onSelect: () => setOnly("note") },
            ]}
          >
            {{ all: t("Everything"), touch: t("Being in touch"), note: t("Gifts and notes") }[only]}
            <Icon name="down" size={16} />
          </Menu>
        )}
      </header>
      <Composer person={person} called={called} usualKind={usualKind} />
      {coming.length > 0 && <Part title={t("What comes")} items={coming} person={person} name={name} />}
      {byMonth(shown, now).map(([title, items]) => (
        <Part key={title} title={title} items={items} person={person} name={name} />
      ))}
      {shown.length < past.length && first && (
        <button class="plain no-print" onClick={() => setWhole(true)}>
          {tn("All {count} since {year}", "All {count} since {year}", past.length, { year: first.day.slice(0, 4) })}
        </button>
      )}
    </section>
  );
}

function Part({ title, items, person, name }: { title: string; items: Item[]; person: Person; name: string }) {
  return (
    <div class="timeline-part">
      <h3>{title}</h3>
      <ul class="timeline">
        {items.map((item) => (
          <Entry key={item.key} item={item} person={person} name={name} />
        ))}
      </ul>
    </div>
  );
}

function Entry({ item, person, name }: { item: Item; person: Person; name: string }) {
  const account = useAccount();
  const { entry } = item;
  const others = (entry?.personIds ?? []).filter((id) => id !== person.id).flatMap((id) => account.person(id) ?? []);
  const isUnsent = entry !== undefined && account.pending.value.some(({ type, id }) => type === "interaction" && id === entry.id);
  return (
    <li class={isUnsent ? "unsent" : undefined}>
      <span class={`tile kind-${item.tone}`}>
        <Icon name={item.icon} size={18} />
      </span>
      <div class="timeline-text">
        <p class="timeline-head">
          <strong>
            <bdi>{item.text}</bdi>
          </strong>{" "}
          <span class="soft small" title={entry && timeInWords(entry.at, account.settings.value.timezone)}>
            {item.when}
          </span>
          {isUnsent && <span class="soft small">{t("kept here")}</span>}
        </p>
        {item.words && <Notes text={item.words} />}
        {others.length > 0 && (
          <p class="row soft small nowrap">
            <span class="pile" aria-hidden="true">
              {others.slice(0, 6).map((other) => (
                <Avatar key={other.id} person={other} size="small" />
              ))}
            </span>
            <span>{t("with {names}", { names: formatList(others.map((other) => other.name)) })}</span>
          </p>
        )}
      </div>
      {entry && (
        <Menu
          class="plain icon no-print"
          label={t("{kind} with {name}, {when}", { kind: kindLabel(entry.kind), name, when: timeInWords(entry.at, account.settings.value.timezone) })}
          items={[
            { label: t("Edit"), onSelect: () => navigate(`/log?entry=${entry.id}`) },
            { label: t("Delete"), isDanger: true, onSelect: () => void deleteInteraction(account, entry) },
          ]}
        >
          <Icon name="more" />
        </Menu>
      )}
    </li>
  );
}

function toItem(entry: Interaction, now: Day, zone: string | null): Item {
  const day = dayOf(entry.at, zone);
  const { icon, tone } = kindOf(entry.kind);
  return { key: entry.id, day, tone, icon, text: entry.title || kindLabel(entry.kind), when: whenInWords(day, now), words: entry.notes ?? undefined, entry };
}

// The days themselves that dates remember, such as that of a wedding; a birth is not one of them.
function memories(person: Person, dates: ImportantDate[], now: Day, zone: string | null): Item[] {
  const days = dates.filter(({ type, yearUnknown, date }) => type !== "BIRTHDAY" && !yearUnknown && date.slice(0, 10) <= now);
  const added = dayOf(person.createdAt, zone);
  return [
    ...days.map((date): Item => ({ key: date.id, day: date.date.slice(0, 10), tone: "date", icon: "calendar", text: occasion(date), when: whenInWords(date.date.slice(0, 10), now) })),
    ...(person.deathday && person.deathday <= now ? [{ key: "deathday", day: person.deathday, tone: "date", icon: "calendar", text: t("Died"), when: whenInWords(person.deathday, now) } satisfies Item] : []),
    { key: "added", day: added, tone: "note", icon: "add", text: t("Added here"), when: whenInWords(added, now) },
  ];
}

function comingItems(person: Person, contactDue: Day | null, dates: ImportantDate[], now: Day, leapDayRule: "FEB28" | "MAR1"): Item[] {
  const isNear = (day: Day | null): day is Day => day !== null && daysBetween(now, day) <= COMING_DAYS;
  const items: Item[] = dates.flatMap((date) => {
    const day = nextOccurrence(date, now, leapDayRule);
    if (!isNear(day)) return [];
    const years = date.type === "BIRTHDAY" && person.deathday ? null : yearsInWords(date, day);
    const icon = date.type === "BIRTHDAY" ? "cake" : "calendar";
    return [{ key: `next ${date.id}`, day, tone: "date", icon, text: [occasion(date), years].filter(Boolean).join(", "), when: daysFromNow(daysBetween(now, day)) }];
  });
  if (isNear(contactDue)) {
    items.push({ key: "due", day: contactDue < now ? now : contactDue, tone: "touch", icon: "clock", text: t("Time to get in touch"), when: contactDue <= now ? t("now|due") : daysFromNow(daysBetween(now, contactDue)) });
  }
  return items.sort((one, other) => (one.day < other.day ? -1 : 1));
}

function whenInWords(day: Day, now: Day): string {
  const days = daysBetween(now, day);
  if (days > -7) return daysFromNow(days);
  const year = day.slice(0, 4) === now.slice(0, 4) ? {} : { year: "numeric" as const };
  return dayInWords(day, { day: "numeric", month: "short", ...year });
}

// With the months of the items as headings; those of other years have the year.
function byMonth(items: Item[], now: Day): [title: string, items: Item[]][] {
  const parts = new Map<string, Item[]>();
  for (const item of items) {
    const year = item.day.slice(0, 4) === now.slice(0, 4) ? {} : { year: "numeric" as const };
    const title = dayInWords(item.day, { month: "long", ...year });
    parts.set(title, [...(parts.get(title) ?? []), item]);
  }
  return [...parts];
}
