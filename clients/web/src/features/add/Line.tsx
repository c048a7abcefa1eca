// Adds in one line: what is understood is coloured, and below stands what will be written. Nothing is made before Save.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { isAddOpen, lineStart, personOnScreen } from "../../app/box.ts";
import { navigate, place } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { dayInWords, today } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import { fold } from "../../store/fold.ts";
import { search } from "../../store/people.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Icon, type IconName } from "../../ui/Icon.tsx";
import { isComposing } from "../../ui/keyboard.ts";
import { lazy } from "../../ui/lazy.tsx";
import { KINDS } from "../person/interactions.ts";
import { Sheet } from "../search/Sheet.tsx";
import type { Reading } from "./parse.ts";
import { type Choices, NO_CHOICES, type Plan, planOf, summaryOf } from "./plan.ts";
import { useReading } from "./useReading.ts";
import { write } from "./write.ts";
import "./add.css";

const RelationshipDialog = lazy(() => import("../person/RelationshipDialog.tsx"));

const MAX_COMPLETIONS = 3;
const MIN_COMPLETED = 2; // letters

export function Line() {
  const account = useAccount();
  const draftKey = `draft ${account.id} line`;
  const { personIds, isLog } = lineStart.value;
  const [text, setText] = useState(() => lineStart.value.text || (isLog ? "" : (localStorage.getItem(draftKey) ?? "")));
  const [choices, setChoices] = useState<Choices>(NO_CHOICES);
  const [isRelating, setRelating] = useState(false);
  const [isEntered, setEntered] = useState(false); // before the names were read
  const field = useRef<HTMLTextAreaElement>(null);
  const isWriting = useRef(false);
  const onScreen = useMemo(() => personOnScreen(place.value.path), []);
  const given = personIds.length ? personIds : onScreen ? [onScreen] : [];
  const typed = useReading(text);
  const isEmpty = !text.trim();
  // An empty line that logs: there was contact, which the chips say more of.
  const reading = typed && isEmpty && isLog ? { ...typed, kind: "contact" as const, contactKind: "MEETING" as const } : typed;
  const plan = reading && (!isEmpty || isLog) ? planOf(reading, text, choices, given, account) : null;
  const choose = (changes: Partial<Choices>) => {
    setChoices({ ...choices, ...changes });
    field.current?.focus();
  };
  const type = (value: string) => {
    setText(value.replace(/\n/g, " "));
    if (!value.trim()) setChoices(NO_CHOICES);
  };
  const end = () => {
    localStorage.removeItem(draftKey);
    isAddOpen.value = false;
  };
  // Escape and the back button keep what was typed for the next time.
  const leave = () => {
    try {
      if (isEmpty) localStorage.removeItem(draftKey);
      else localStorage.setItem(draftKey, text);
    } catch {
      // No room: it is typed anew.
    }
    isAddOpen.value = false;
  };
  const open = (path: string) => {
    end();
    navigate(path);
  };
  const save = async () => {
    if (isEmpty && !isLog) return open("/people/new");
    if (!typed) return setEntered(true);
    if (!plan?.isReady || isWriting.current) return;
    isWriting.current = true; // a second press must not write a second time
    end();
    await write(account, plan);
  };
  useEffect(() => {
    if (!isEntered || !typed) return;
    setEntered(false);
    void save();
  }, [isEntered, typed]);
  const who = given.map((id) => `person=${id}`).join("&");
  const name = !isEmpty && reading?.kind === "person" ? `?name=${encodeURIComponent(reading.people[0]?.text ?? "")}` : "";
  const forms: { label: string; icon: IconName; tone: string; act: () => void }[] = [
    { label: "A new person", icon: "people", tone: "accent", act: () => open(`/people/new${name}`) },
    { label: "A contact", icon: "log", tone: "touch", act: () => open(`/log${who && `?${who}`}`) },
    { label: "A date with a reminder", icon: "cake", tone: "date", act: () => open(`/dates/new${who && `?${who}`}`) },
    { label: "A relationship", icon: "link", tone: "tie", act: () => setRelating(true) },
  ];
  if (isRelating) return <RelationshipDialog personId={given[0] ?? null} onClose={end} />;
  return (
    <Sheet
      label={isLog ? t("Log a contact") : t("Add")}
      class="line"
      onClose={leave}
      onEarly={(early, isEntered) => (type(`${text}${early}`), setEntered(isEntered))}
      onKeyDown={(event) => {
        if (event.key !== "Enter" || event.shiftKey || isComposing(event) || event.target !== field.current) return;
        event.preventDefault();
        void save();
      }}
    >
      <div class="line-field">
        <span class="tile kind-accent"><Icon name={isLog ? "log" : "add"} size={18} /></span>
        <Coloured text={text} reading={reading}>
          <textarea
            ref={field}
            rows={1}
            aria-label={isLog ? t("What happened?") : t("A line about somebody")}
            placeholder={isLog ? t("What happened?") : t("Tea with Ana yesterday")}
            autocomplete="off"
            enterkeyhint="done"
            maxLength={2000}
            value={text}
            onInput={({ currentTarget }) => type(currentTarget.value)}
          />
        </Coloured>
      </div>
      <div class="line-content">
        {!isEmpty && !plan?.question && <Completions text={text} onText={(value) => { type(value); field.current?.focus(); }} />}
        {plan && <Understood plan={plan} choices={choices} choose={choose} isUnderstood={reading?.kind !== "note"} onAddPerson={() => { type(`${text.trimEnd()} ${t("with|somebody")} `); field.current?.focus(); }} />}
        {isEmpty && !isLog && <p class="soft small line-hint">{t("For example: Tea with Ana yesterday. Jane Doe 0170 1112233 birthday 3 May. Ben is Ana’s brother.")}</p>}
        <p class="sheet-heading" id="line-forms">{isEmpty ? t("Or by a form") : t("Or")}</p>
        <ul class="line-forms" aria-labelledby="line-forms">
          {forms.map(({ label, icon, tone, act }) => (
            <li key={label}>
              <button type="button" class="plain" onClick={act}>
                <span class={`tile kind-${tone}`}><Icon name={icon} size={18} /></span>
                {t(label)}
              </button>
            </li>
          ))}
        </ul>
      </div>
      <div class="sheet-foot">
        <span class="grow soft small">{t("Kept on this device at once, sent when there is a network.")}</span>
        <button type="button" onClick={end}>{t("Cancel")}</button>
        <button type="button" class="main" disabled={!plan?.isReady && !(isEmpty && !isLog)} onClick={() => void save()}>
          {isEmpty && !isLog ? t("A new person") : plan?.kind === "contact" ? t("Log it") : t("Save")} <kbd aria-hidden="true">Enter</kbd>
        </button>
      </div>
    </Sheet>
  );
}

// The text once more behind the field, with the colours of what was understood.
function Coloured({ text, reading, children }: { text: string; reading: Reading | null; children: ComponentChildren }) {
  const parts: ComponentChildren[] = [];
  let at = 0;
  for (const { start, end, kind } of reading?.tokens ?? []) {
    if (end > text.length) break; // of the text before the last letter
    parts.push(text.slice(at, start), <span class={`token kind-${kind}`}>{text.slice(start, end)}</span>);
    at = end;
  }
  return (
    <div class="coloured">
      <div class="coloured-text" aria-hidden="true">{parts}{text.slice(at)}{"\u200b"}</div>
      {children}
    </div>
  );
}

// Whom the last word may mean, while it is typed.
function Completions({ text, onText }: { text: string; onText: (text: string) => void }) {
  const account = useAccount();
  const word = /[\p{L}\p{M}'’-]+$/u.exec(text)?.[0] ?? "";
  if (word.length < MIN_COMPLETED) return null;
  const folded = fold(word);
  const rows = search(account.people.value, word, 20);
  const found = rows.filter(({ name }) => fold(name).split(" ").some((part) => part.startsWith(folded)) && !fold(text).endsWith(fold(name)));
  if (found.length === 0 || found.length > 12) return null;
  return (
    <div class="row line-completions" role="group" aria-label={t("Names")}>
      {found.slice(0, MAX_COMPLETIONS).map((row) => (
        <button key={row.id} type="button" class="chip" onClick={() => onText(`${text.slice(0, text.length - word.length)}${row.name} `)}>
          <Avatar person={row} size="small" />
          <bdi>{row.name}</bdi>
        </button>
      ))}
    </div>
  );
}

interface UnderstoodProps {
  plan: Plan;
  choices: Choices;
  choose: (changes: Partial<Choices>) => void;
  isUnderstood: boolean;
  onAddPerson: () => void;
}

function Understood({ plan, choices, choose, isUnderstood, onAddPerson }: UnderstoodProps) {
  const account = useAccount();
  const { icon, tone, title, when } = summaryOf(plan, account);
  const { dateFormat: _, timezone } = account.settings.value;
  const day = plan.kind === "contact" ? (plan.day ?? today(timezone)) : (plan.date?.day ?? "");
  const rows = plan.people.flatMap(({ id }) => (id && account.person(id)) || []);
  const needsPerson = plan.people.length === 0 && !plan.question && plan.groupIds.length === 0;
  return (
    <section class="understood" aria-live="polite">
      <p class="sheet-heading">{t("This will be written")}</p>
      <div class="card row nowrap understood-card">
        <span class={`tile kind-${tone}`}><Icon name={icon} /></span>
        <div class="grow">
          <strong>{title}</strong> <span class="soft small">{when}</span>
          {plan.notes && <p class="small understood-notes">{plan.notes}</p>}
          {plan.kind === "person" && plan.phones.length + plan.emails.length > 0 && <p class="small">{[...plan.phones, ...plan.emails].join(", ")}</p>}
          {rows.length > 0 && (
            <div class="row small soft">
              <span class="pile">{rows.slice(0, 6).map((row) => <Avatar key={row.id} person={row} size="small" />)}</span>
              <bdi>{rows.map((row) => row.name).join(", ")}</bdi>
            </div>
          )}
        </div>
      </div>
      {plan.question && (
        <fieldset class="line-question">
          <legend>{t("Which {name}?", { name: plan.question.text })}</legend>
          <div class="row">
            {plan.question.ids.slice(0, 8).flatMap((id) => {
              const row = account.person(id);
              if (!row) return [];
              const more = [row.jobTitle, row.organization, row.town].filter(Boolean)[0];
              return [
                <button key={id} type="button" class="chip" onClick={() => choose({ who: { ...choices.who, [plan.question!.text]: id } })}>
                  <Avatar person={row} size="small" />
                  <bdi>{row.name}</bdi>
                  {more && <span class="soft">{more}</span>}
                </button>,
              ];
            })}
          </div>
        </fieldset>
      )}
      {needsPerson && <p class="small line-question" role="status">{t("Who is it about? Name somebody.")}</p>}
      <div class="row line-chips">
        {plan.kind === "contact" &&
          KINDS.filter(({ kind }) => kind !== "OTHER").map(({ kind, label, icon: each }) => (
            <button key={kind} type="button" class={`chip ${plan.contactKind === kind ? "chosen" : ""}`} aria-pressed={plan.contactKind === kind} onClick={() => choose({ contactKind: kind })}>
              <Icon name={each} size={16} />
              {t(label)}
            </button>
          ))}
        {(plan.kind === "contact" || plan.date) && (
          <label class="chip day-chip">
            <Icon name="calendar" size={16} />
            <span aria-hidden="true">{day ? dayInWords(plan.date?.yearUnknown ? `2024${day.slice(4)}` : day, { day: "numeric", month: "short" }) : t("Day")}</span>
            <input type="date" aria-label={t("Day")} value={day && !plan.date?.yearUnknown ? day : ""} onChange={({ currentTarget }) => choose({ day: currentTarget.value || null })} />
          </label>
        )}
        {plan.people.length + plan.groupIds.length > 1 || plan.kind === "contact"
          ? [
              ...plan.people.map((person) => ({ key: person.text, label: person.newName ? t("New person: {name}", { name: person.shownName }) : person.shownName })),
              ...plan.groupIds.map((id) => ({ key: id, label: account.groups.byId.value.get(id)?.name ?? "" })),
            ].map(({ key, label }) => (
              <button key={key} type="button" class="chip" aria-label={t("Remove {name}", { name: label })} onClick={() => choose({ removed: [...choices.removed, key] })}>
                <bdi>{label}</bdi>
                <Icon name="close" size={14} />
              </button>
            ))
          : null}
        {plan.kind === "contact" && (
          <button type="button" class="chip add" onClick={onAddPerson}>
            <Icon name="add" size={16} />
            {t("Person")}
          </button>
        )}
        {plan.date && (
          <button type="button" class={`chip ${choices.isReminded ? "chosen" : ""}`} aria-pressed={choices.isReminded} onClick={() => choose({ isReminded: !choices.isReminded })}>
            <Icon name="bell" size={16} />
            {t("Remind me")}
          </button>
        )}
        {isUnderstood && plan.kind !== "contact" && (
          <button type="button" class="chip" onClick={() => choose({ isNote: true })}>
            <Icon name="note" size={16} />
            {t("All as a note")}
          </button>
        )}
        {choices.isNote && (
          <button type="button" class="chip" onClick={() => choose({ isNote: false, contactKind: null })}>
            <Icon name="back" size={16} />
            {t("Not a note")}
          </button>
        )}
      </div>
    </section>
  );
}
