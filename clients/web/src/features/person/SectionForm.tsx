// A section as its form. Its values are a draft until they are saved: nothing is saved or lost by a tap outside.
import type { ComponentChildren } from "preact";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { announce } from "../../ui/announce.ts";
import { type Form, useForm } from "../../ui/form.ts";
import { toast } from "../../ui/toast.tsx";
import type { Person } from "./entries.ts";

interface Props<V extends object> {
  person: Person;
  section: string;
  pick: (person: Person) => V;
  // What is sent of the changed values.
  toChanges?: (changes: Partial<V>) => Record<string, unknown>;
  // What is done before the save, such as a question.
  beforeSave?: (changes: Partial<V>, seen: V) => Promise<void>;
  onDone: () => void;
  children: (form: Form<V>) => ComponentChildren;
}

export function draftKey(accountId: string, personId: string, section: string): string {
  return `${accountId} person ${personId} ${section}`;
}

export function SectionForm<V extends object>({ person, section, pick, toChanges, beforeSave, onDone, children }: Props<V>) {
  const { copy, id: accountId } = useAccount();
  const form = useForm<V>(draftKey(accountId, person.id, section), () => pick(person));
  const save = async (event: Event) => {
    event.preventDefault();
    const { changes } = form;
    if (Object.keys(changes).length) {
      await beforeSave?.(changes, form.seen);
      const sent = toChanges ? toChanges(changes) : (changes as Record<string, unknown>);
      // What the user saw of these fields. Forms show nothing as empty text, and some show fields in another shape.
      const seen = form.seen as Record<string, unknown>;
      const fields = Object.keys(sent).filter((field) => field in seen);
      await copy.update("person", person.id, sent, Object.fromEntries(fields.map((field) => [field, seen[field] === "" ? null : seen[field]])));
      announce(t("Saved here"));
    }
    form.end();
    onDone();
  };
  const discard = () => {
    const { values } = form;
    const isChanged = form.isChanged;
    form.end();
    onDone();
    if (!isChanged) return;
    toast(t("What you typed was discarded."), () => {
      localStorage.setItem(`draft ${draftKey(accountId, person.id, section)}`, JSON.stringify({ seen: form.seen, values: values.value }));
      dispatchEvent(new Event("drafts"));
    });
  };
  return (
    <form class="stack section-form" onSubmit={save} onKeyDown={(event) => event.key === "Escape" && !form.isChanged && discard()}>
      {form.wasRestored && <p class="banner">{t("This is what you typed before. It was not saved yet.")}</p>}
      {children(form)}
      <div class="form-actions">
        <button type="button" onClick={discard}>
          {t("Cancel")}
        </button>
        <button class="main">{t("Save")}</button>
      </div>
    </form>
  );
}
