// Whether two are one person: both faces, what differs, what is kept of both, and the three answers.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useAccount } from "../../app/session.ts";
import { formatList, t } from "../../i18n/index.ts";
import { useRecord, useRecordsOf } from "../../store/records.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { useForm } from "../../ui/form.ts";
import { Icon } from "../../ui/Icon.tsx";
import { useKeys } from "../../ui/keyboard.ts";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { PersonLink } from "../people/PersonLink.tsx";
import { keptFromBoth, type Side } from "./kept.ts";
import { type Choice, defaultChoice, differingFields, mergeOf, type MergeField, PHOTO, valueInWords } from "./mergeFields.ts";
import { dismiss, mergePeople } from "./merging.ts";

export interface Answers {
  onJoined: (gone: string, into: { id: string; name: string }) => unknown;
  onTwo: () => void;
  onLater: () => void;
  onUndone: () => unknown; // a join from here was taken back
}

interface Props extends Answers {
  ids: readonly [one: string, other: string];
}

export function Decision({ ids: [one, other], ...answers }: Props) {
  const [first, second] = [useSide(one), useSide(other)];
  if (first === undefined || second === undefined) return <p aria-busy="true" />;
  if (first === null || second === null || one === other) {
    return (
      <div class="empty">
        <p>{t("One of them is not here any more.")}</p>
        <button onClick={answers.onTwo}>{t("Go on")}</button>
      </div>
    );
  }
  return <Choices key={`${one} ${other}`} one={first} other={second} {...answers} />;
}

// Null if there is no such person.
function useSide(id: string): Side | null | undefined {
  const person = useRecord("person", id).value;
  const dates = useRecordsOf("importantDate", id).value;
  const contacts = useRecordsOf("interaction", id).value;
  const ties = useRecordsOf("relationship", id).value;
  if (person === null) return null;
  return person && dates && contacts && ties ? { person, dates, contacts: contacts.length, ties: ties.length } : undefined;
}

function Choices({ one, other, onJoined, onTwo, onLater, onUndone }: Answers & { one: Side; other: Side }) {
  const account = useAccount();
  const form = useForm<{ choices: Record<string, Choice> }>(`${account.id} merge ${one.person.id} ${other.person.id}`, () => ({ choices: {} }));
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const body = useRef<HTMLDivElement>(null);
  const { choices } = form.values.value;
  const sides = [one, other];
  const nameOf = ({ person }: Side) => account.person(person.id)?.name ?? person.name;
  const fields = differingFields(one.person, other.person);
  const kept = useMemo(() => keptFromBoth(account, one, other), [account, one.person, other.person, one.dates, other.dates, one.ties, other.ties, one.contacts, other.contacts]);
  const hasTwoPhotos = one.person.photo !== null && other.person.photo !== null && one.person.photo !== other.person.photo;
  const isOffline = account.sync.value.phase === "offline";
  // A change that the service does not have yet would be joined without.
  const isUnsent = account.pending.value.some(({ id, base, body: edit }) => [id, base["personId"], edit["personId"]].some((each) => sides.some(({ person }) => person.id === each)));
  const isReady = !isBusy && !isUnsent && !isOffline;
  const choose = (name: string, choice: Choice) => form.set("choices", { ...form.values.peek().choices, [name]: choice });
  const attempt = async (work: () => Promise<() => unknown>) => {
    if (!isReady) return;
    setBusy(true);
    setProblem(null);
    try {
      const done = await work();
      form.end();
      await done();
    } catch (error) {
      setProblem(problemOf(error));
    }
    setBusy(false);
  };
  const join = () =>
    attempt(async () => {
      const { primary, secondary, overrides } = mergeOf(one.person, other.person, choices);
      const name = nameOf(primary === one.person ? one : other);
      await mergePeople(account, primary.id, secondary.id, overrides, name, onUndone);
      return () => onJoined(secondary.id, { id: primary.id, name });
    });
  const separate = () =>
    attempt(async () => {
      await dismiss(one.person.id, other.person.id);
      return onTwo;
    });
  // Of the field that has the focus, or of all of them.
  const chooseAll = (choice: Choice) => {
    const focused = body.current?.querySelector<HTMLElement>(":focus")?.closest<HTMLElement>("[data-field]")?.dataset["field"];
    const names = focused ? [focused] : [...fields.map(({ name }) => name), ...(hasTwoPhotos ? [PHOTO] : [])];
    form.set("choices", { ...form.values.peek().choices, ...Object.fromEntries(names.map((name) => [name, choice])) });
  };
  const acts = useRef({ join, separate, onLater, chooseAll });
  acts.current = { join, separate, onLater, chooseAll };
  useKeys([
    { key: "Enter", label: t("Join them"), act: () => void acts.current.join() },
    { key: "d", label: t("They are two"), act: () => void acts.current.separate() },
    { key: "ArrowRight", label: t("Later"), act: () => acts.current.onLater() },
    { key: "1", label: t("Take what the first one has"), act: () => acts.current.chooseAll("first") },
    { key: "2", label: t("Take what the second one has"), act: () => acts.current.chooseAll("second") },
  ]);
  // The next pair is announced by its heading, and Enter is not the answer that was pressed for the last one.
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <div ref={body}>
      <div class="stack">
        {isOffline && <p class="banner warning">{t("Without a network two people cannot be joined. What is here can be looked at.")}</p>}
        {isUnsent && !isOffline && <p class="banner warning">{t("A change of theirs is not sent yet. They can be joined when it is.")}</p>}
        <ProblemNote problem={problem} />
        <h2 class="hidden-text" ref={heading} tabIndex={-1}>
          {formatList(sides.map(nameOf))}
        </h2>
        <ul class="decision-sides">
          {sides.map((side) => (
            <li key={side.person.id} class="card">
              <Avatar person={{ id: side.person.id, name: nameOf(side), photo: side.person.photo }} size="big" />
              <FaceText side={side} name={nameOf(side)} />
            </li>
          ))}
        </ul>
        {(fields.length > 0 || hasTwoPhotos) && (
          <section class="section">
            <header>
              <h2>{t("Choose where they differ")}</h2>
            </header>
            <div class="card stack">
              {hasTwoPhotos && (
                <Tiles name={PHOTO} label={t("Photo")} choice={choices[PHOTO] ?? "first"} onChoice={(choice) => choose(PHOTO, choice)} options={sides.map(({ person }, index) => [index ? "second" : "first", "", person] as const)} />
              )}
              {fields.map((field) => (
                <Tiles key={field.name} name={field.name} label={field.label()} choice={choices[field.name] ?? defaultChoice(field, one.person)} onChoice={(choice) => choose(field.name, choice)} options={optionsOf(account, field, one, other)} />
              ))}
            </div>
          </section>
        )}
        {kept.length > 0 && (
          <section class="section">
            <header>
              <h2>{t("Kept from both")}</h2>
            </header>
            <ul class="card flush lines">
              {kept.map(({ icon, kind, text, from }, index) => (
                <li key={index} class="row nowrap kept-line">
                  <span class={`tile ${kind}`}>
                    <Icon name={icon} size={16} />
                  </span>
                  <span>
                    <bdi class="kept-text">{text}</bdi>
                    <span class="soft small block">{from}</span>
                  </span>
                </li>
              ))}
            </ul>
          </section>
        )}
      </div>
      <div class="decision-bar no-print">
        <span class="soft small decision-note">{t("Can be undone for 30 days")}</span>
        <button class="button" disabled={!isReady} onClick={() => void separate()}>
          {t("They are two")} <kbd aria-hidden="true">D</kbd>
        </button>
        <button class="button plain" onClick={onLater}>
          {t("Later")} <kbd aria-hidden="true">→</kbd>
        </button>
        <button class="button main" disabled={!isReady} onClick={() => void join()}>
          {t("Join them")} <kbd aria-hidden="true">⏎</kbd>
        </button>
      </div>
    </div>
  );
}

function FaceText({ side: { person }, name }: { side: Side; name: string }) {
  const account = useAccount();
  const groups = person.groupIds.flatMap((id) => account.groups.byId.value.get(id)?.name ?? []);
  const about = [[person.jobTitle, person.organization].filter(Boolean).join(", "), formatList(groups)].filter(Boolean).join(" · ");
  return (
    <>
      <PersonLink person={{ id: person.id, name, photo: person.photo }} />
      {about && <span class="soft small">{about}</span>}
    </>
  );
}

type Option = readonly [choice: Choice, text: string, photoOf?: Side["person"]];

function optionsOf(account: ReturnType<typeof useAccount>, field: MergeField, one: Side, other: Side): Option[] {
  const options: Option[] = [
    ["first", valueInWords(account, one.person, field)],
    ["second", valueInWords(account, other.person, field)],
  ];
  return field.name === "notes" ? [...options, ["both", t("Both, one after the other")]] : options;
}

interface TilesProps {
  name: string;
  label: string;
  choice: Choice;
  options: readonly Option[];
  onChoice: (choice: Choice) => void;
}

// One of two values, or both: a tile each.
function Tiles({ name, label, choice, options, onChoice }: TilesProps) {
  return (
    <div role="group" aria-label={label} data-field={name} class="choice-field">
      <span class="label soft">{label}</span>
      <div class="choice-tiles">
        {options.map(([value, text, photoOf], index) => (
          <button key={value} type="button" class="choice-tile" aria-pressed={choice === value} onClick={() => onChoice(value)} aria-label={photoOf ? [t("The first photo"), t("The second photo")][index] : undefined}>
            <span class="choice-mark" />
            {photoOf ? <Avatar person={photoOf} /> : <bdi>{text}</bdi>}
          </button>
        ))}
      </div>
    </div>
  );
}
