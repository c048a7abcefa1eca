// A section as its form, or all of them as that of the whole person. Its values are a draft until they are saved.
import { useEffect, useRef, useState } from "preact/hooks";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { announce } from "../../ui/announce.ts";
import { useForm } from "../../ui/form.ts";
import { reveal } from "../../ui/scroll.ts";
import { toast } from "../../ui/toast.tsx";
import { type Birthday, BirthdayFields, birthdayOf, isEmptyBirthday, noBirthday, pickBirthday, saveBirthday } from "./Birthday.tsx";
import type { ImportantDate } from "./dates.ts";
import type { Entry, Person } from "./entries.ts";
import { type ChosenPhoto, PhotoField } from "./PhotoField.tsx";
import { type EditedSection, SECTION_NAMES, type SectionName, SECTIONS } from "./sections.tsx";
import { moveOthers, type Movers } from "./sharedAddress.tsx";

export const WHOLE = "all"; // in place of the name of a section

interface Props {
  person: Person;
  name: string;
  section: SectionName | typeof WHOLE;
  birthday?: ImportantDate | null; // for the whole form
  onPhoto?: (picture: Blob | null) => Promise<void>; // for the whole form
  focus?: string | undefined; // a selector of what is typed into first
  onDone: () => void;
}

type Values = Record<string, unknown> & { birthday?: Birthday };

export function draftKey(accountId: string, personId: string, section: string): string {
  return `${accountId} person ${personId} ${section}`;
}

export function SectionForm({ person, name, section, birthday = null, onPhoto, focus, onDone }: Props) {
  const { copy, id: accountId } = useAccount();
  const isWhole = section === WHOLE;
  const sections: EditedSection[] = isWhole ? SECTION_NAMES.map((each) => SECTIONS[each]) : [SECTIONS[section]];
  const key = draftKey(accountId, person.id, section);
  const initial = (): Values => ({
    ...Object.assign({}, ...sections.map(({ pick }) => pick(person))),
    ...(isWhole && { birthday: birthday ? pickBirthday(birthday) : noBirthday() }),
  });
  const form = useForm<Values>(key, initial);
  // It may have been opened while a new device was still reading.
  useEffect(() => form.follow(initial()), [birthday?.id]);
  const [photo, setPhoto] = useState<ChosenPhoto | null>(null);
  const element = useRef<HTMLFormElement>(null);
  useEffect(() => {
    const form = element.current;
    const first = (focus && form?.querySelector<HTMLElement>(focus)) || form?.querySelector<HTMLElement>("input:not([type=file], [hidden]), textarea") || form?.querySelector<HTMLElement>("select, button");
    first?.focus({ preventScroll: true });
    reveal(first?.closest("fieldset, .field") ?? form);
  }, []);
  const save = async (event: Event) => {
    event.preventDefault();
    const [values, seen] = [form.values.value, form.seen];
    const errors = Object.assign({}, ...sections.map(({ check }) => check?.(values, seen))) as Record<string, string>;
    const { birthday: day } = values;
    if (day && !isEmptyBirthday(day) && !birthdayOf(day)) errors["birthday"] = t("There is no such day.");
    form.errors.value = errors;
    if (Object.keys(errors).length) {
      requestAnimationFrame(() => element.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
      return;
    }
    const { birthday: changedBirthday, ...changes } = form.changes;
    if (Object.keys(changes).length) {
      await moveOthers(person.id, (seen["addresses"] ?? []) as Entry[], (changes["addresses"] ?? []) as Entry[], (values["movers"] ?? {}) as Movers);
      await sendChanges(changes, seen);
    }
    if (photo) await onPhoto?.(photo.blob);
    if (changedBirthday) await saveBirthday(copy, person.id, birthday, changedBirthday);
    if (Object.keys(form.changes).length) announce(t("Saved here"));
    form.end();
    onDone();
  };
  const sendChanges = async (changes: Record<string, unknown>, seen: Record<string, unknown>) => {
    const sent = Object.assign({}, ...sections.map(({ pick, toSent }) => {
      const own = Object.fromEntries(Object.keys(pick(person)).filter((field) => field in changes).map((field) => [field, changes[field]]));
      return toSent ? toSent(own) : own;
    })) as Record<string, unknown>;
    // What the user saw of these fields. Forms show nothing as empty text, and some show fields in another shape.
    const fields = Object.keys(sent).filter((field) => field in seen);
    await copy.update("person", person.id, sent, Object.fromEntries(fields.map((field) => [field, seen[field] === "" ? null : seen[field]])));
  };
  const discard = () => {
    const { values } = form;
    const isChanged = form.isChanged;
    form.end();
    onDone();
    if (!isChanged) return;
    toast(t("What you typed was discarded."), () => {
      localStorage.setItem(`draft ${key}`, JSON.stringify({ seen: form.seen, values: values.value }));
      dispatchEvent(new Event("drafts"));
    });
  };
  const press = (event: KeyboardEvent) => {
    if (event.defaultPrevented || (event.target as Element).closest("dialog")) return; // such as that of a picture
    if (event.key === "Escape") discard();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) element.current?.requestSubmit();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  form.values.value; // subscribes the view, so that what is typed is said to be kept
  const title = isWhole ? t("Edit {name}", { name }) : SECTIONS[section].title();
  return (
    <section class={`section edited ${isWhole ? "edited-whole" : ""}`} aria-label={title}>
      <header>
        <h2>{title}</h2>
        {form.isChanged && <span class="soft small">{t("Draft kept here")}</span>}
      </header>
      <form ref={element} class="card section-form" noValidate onSubmit={save} onKeyDown={press}>
        {form.wasRestored && <p class="banner">{t("This is what you typed before. It was not saved yet.")}</p>}
        {isWhole && <PhotoField person={{ id: person.id, name, photo: person.photo }} chosen={photo} onChosen={setPhoto} />}
        {sections.map((each) => {
          const fields = <each.Fields form={form} person={person} name={name} />;
          if (!isWhole) return <div key={each.letter}>{fields}</div>;
          return (
            <section key={each.letter} class="stack tight" aria-label={each.title()}>
              <h3>{each.title()}</h3>
              {fields}
              {each === SECTIONS.name && (
                <BirthdayFields value={form.values.value.birthday ?? noBirthday()} onPart={(part) => form.set("birthday", { ...(form.values.peek().birthday ?? noBirthday()), ...part })} error={form.errors.value["birthday"]} />
              )}
            </section>
          );
        })}
        <div class="form-actions">
          <span class="soft small grow wide-only">
            <kbd>Esc</kbd> {t("cancel")} · <kbd>Ctrl Enter</kbd> {t("save")}
          </span>
          <button type="button" onClick={discard}>
            {t("Cancel")}
          </button>
          <button class="main">{t("Save")}</button>
        </div>
      </form>
    </section>
  );
}
