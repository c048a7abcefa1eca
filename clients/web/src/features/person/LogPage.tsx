// Logs a contact with one or several people, or changes an entry: at most three taps from a cold start, offline too.
import { goBack, place } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { useRef } from "preact/hooks";
import { timeAt, wallTime } from "../../i18n/days.ts";
import { useRecord } from "../../store/records.ts";
import { saveEdit } from "../../store/save.ts";
import { AreaField, Field, TextField } from "../../ui/Field.tsx";
import { useForm } from "../../ui/form.ts";
import { Icon } from "../../ui/Icon.tsx";
import { Page } from "../../ui/Page.tsx";
import { GoneNote } from "../../ui/SaveDialog.tsx";
import { toast } from "../../ui/toast.tsx";
import { createNewPeople } from "../people/newPeople.ts";
import { PersonPicker } from "../people/PersonPicker.tsx";
import { type Interaction, type Kind, kindLabel, KINDS } from "./interactions.ts";
import "./person.css";

interface Values {
  personIds: string[];
  kind: Kind;
  at: string; // in the account's zone, as the input has it
  title: string;
  notes: string;
}

export default function LogPage() {
  const { query } = place.value;
  const entry = query.get("entry");
  if (entry) return <KnownEntry id={entry} />;
  const group = query.get("group");
  return <LogForm known={null} isGone={false} personIds={query.getAll("person")} groupId={group} />;
}

function KnownEntry({ id }: { id: string }) {
  const record = useRecord("interaction", id).value;
  const opened = useRef<Interaction | null>(null); // stays open where it is deleted elsewhere
  opened.current ??= record ?? null;
  if (opened.current === null && record === undefined) return <div class="page" aria-busy="true" />;
  if (opened.current === null) return <Page title={t("This entry is not here")} back="/people"><p>{t("It was deleted.")}</p></Page>;
  return <LogForm key={id} known={opened.current} isGone={record === null} personIds={opened.current.personIds} groupId={null} />;
}

interface LogFormProps {
  known: Interaction | null;
  isGone: boolean;
  personIds: string[];
  groupId: string | null;
}

function LogForm({ known, isGone, personIds, groupId }: LogFormProps) {
  const account = useAccount();
  const { copy, id: accountId, people, settings } = account;
  const zone = settings.value.timezone;
  const members = groupId ? people.value.filter(({ groupIds }) => groupIds.includes(groupId)).map(({ id }) => id) : [];
  const form = useForm<Values>(`${accountId} log ${known?.id ?? `new ${personIds.join()} ${groupId ?? ""}`}`, () => ({
    personIds: [...personIds, ...members].slice(0, 50),
    kind: known?.kind ?? "MEETING",
    at: wallTime(known ? new Date(known.at) : new Date(), zone),
    title: known?.title ?? "",
    notes: known?.notes ?? "",
  }), known);
  const values = form.values.value;
  const back = personIds.length === 1 ? `/people/${personIds[0]}` : "/people";
  const save = async (event: Event) => {
    event.preventDefault();
    if (values.personIds.length === 0) return;
    const made = await createNewPeople(account, values.personIds);
    form.set("personIds", made);
    const toRecord = ({ personIds: ids, kind, at, title, notes }: Values) => ({
      personIds: ids,
      kind,
      at: timeAt(at, zone),
      title: title.trim() || null,
      notes: notes.trim() || null,
    });
    if (known) await saveEdit(copy, "interaction", known, form.edit(toRecord));
    else {
      const id = await copy.create("interaction", toRecord(form.values.value));
      toast(t("Logged: {kind}", { kind: kindLabel(values.kind) }), () => copy.delete("interaction", id));
    }
    form.end();
    goBack(back);
  };
  return (
    <Page title={known ? t("Change the entry") : t("Log a contact")} back={back} width="form">
      <form
        class="card stack"
        onSubmit={save}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
        }}
      >
        {form.wasRestored && <p class="banner">{t("This is what you typed before. It was not saved yet.")}</p>}
        {isGone && <GoneNote />}
        <PersonPicker label={t("With whom")} ids={values.personIds} onIds={(ids) => form.set("personIds", ids)} autoFocus={values.personIds.length === 0} withGroups withNew />
        <fieldset class="kinds">
          <legend>{t("What")}</legend>
          {KINDS.map(({ kind, label, icon }) => (
            <label key={kind} class={`kind ${values.kind === kind ? "chosen" : ""}`}>
              <input type="radio" name="kind" value={kind} checked={values.kind === kind} onChange={() => form.set("kind", kind)} />
              <Icon name={icon} />
              {t(label)}
            </label>
          ))}
        </fieldset>
        <Field label={t("When")}>
          {(attributes) => <input {...attributes} type="datetime-local" required value={values.at} onInput={({ currentTarget }) => form.set("at", currentTarget.value)} />}
        </Field>
        <TextField label={t("Title")} maxLength={200} value={values.title} onValue={(title) => form.set("title", title)} />
        <AreaField label={t("Notes")} maxLength={10_000} value={values.notes} onValue={(notes) => form.set("notes", notes)} />
        <div class="form-actions">
          <button
            type="button"
            onClick={() => {
              form.end();
              goBack(back);
            }}
          >
            {t("Cancel")}
          </button>
          <button class="main" disabled={values.personIds.length === 0}>
            {t("Save")}
          </button>
        </div>
      </form>
    </Page>
  );
}
