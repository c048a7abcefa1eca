// The form of a calendar feed. Of a new one the values are a draft until it is created; of a known one each change is saved as it is made.
import type { components } from "contacts-client";
import { useRef, useState } from "preact/hooks";
import { connection, useAccount } from "../../app/session.ts";
import { LANGUAGES, t } from "../../i18n/index.ts";
import { Check, SelectField, TextField } from "../../ui/Field.tsx";
import { useForm } from "../../ui/form.ts";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { toast } from "../../ui/toast.tsx";
import { GroupChoice } from "../groups/GroupChoice.tsx";

export type Feed = components["schemas"]["CalendarFeed"];

export const feedKey = (accountId: string, feed: Feed | null) => `${accountId} feed ${feed?.id ?? "new"}`;

interface Values {
  name: string;
  hasDates: boolean;
  hasContacts: boolean;
  groupIds: string[];
  alarms: boolean;
  language: string; // empty: the account's
}

const NEW: Values = { name: "", hasDates: true, hasContacts: true, groupIds: [], alarms: true, language: "" };

function valuesOf({ name, kinds, groupIds, alarms, language }: Feed): Values {
  return { name, hasDates: kinds.includes("important_date"), hasContacts: kinds.includes("contact"), groupIds, alarms, language };
}

function bodyOf({ name, hasDates, hasContacts, groupIds, alarms, language }: Values) {
  const kinds = [hasDates && "important_date", hasContacts && "contact"].filter(Boolean);
  return { name: name.trim(), kinds, groupIds, alarms, language: language || null };
}

const isWhole = ({ name, hasDates, hasContacts }: Values) => name.trim() !== "" && (hasDates || hasContacts);

interface Props {
  feed: Feed | null;
  onSaved: (made: { id: string; url: string } | null) => void;
  onClose: () => void;
}

export function FeedForm({ feed, onSaved, onClose }: Props) {
  const { id: accountId } = useAccount();
  const form = useForm(feedKey(accountId, feed), () => (feed ? valuesOf(feed) : NEW));
  const values = form.values.value;
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const close = () => {
    form.end();
    onClose();
  };
  const create = async () => {
    setBusy(true);
    setProblem(null);
    try {
      const made = (await connection.ask("POST", "/api/calendar-feeds", bodyOf(values)))["calendarFeed"] as { id: string; url: string };
      close();
      onSaved(made);
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  // One after the other, so that each has its own undo.
  const saving = useRef(Promise.resolve());
  const change = () => (saving.current = saving.current.then(saveChange));
  const saveChange = async () => {
    const now = form.values.peek();
    if (!feed || !form.isChanged || !isWhole(now)) return;
    setProblem(null);
    const before = form.seen;
    const { changes } = form.edit(bodyOf);
    const put = async (body: object) => {
      await connection.ask("PUT", `/api/calendar-feeds/${feed.id}`, body);
      onSaved(null);
    };
    try {
      await put(changes);
      form.wasSaved(now);
      toast(t("Saved"), () => put(bodyOf(before)).then(() => form.show(before, {}), (error: unknown) => setProblem(problemOf(error))));
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return (
    <form
      class={feed ? "stack" : "card stack"}
      onChange={() => void change()}
      onSubmit={(event) => {
        event.preventDefault();
        if (!feed) void create();
        else void change().then(() => !form.isChanged && close());
      }}
    >
      {!feed && <h2>{t("New subscription")}</h2>}
      {form.wasRestored && <p class="banner">{t("This is what you typed before. It was not saved yet.")}</p>}
      <TextField label={t("Name of the subscription")} required maxLength={100} autoFocus value={values.name} onValue={(name) => form.set("name", name)} error={problem?.fields["name"]} />
      <fieldset class="feed-choice">
        <legend>{t("What is in it")}</legend>
        <Check label={t("Birthdays and other dates")} isChecked={values.hasDates} onChange={(isOn) => form.set("hasDates", isOn)} />
        <Check label={t("Whom to get in touch with")} isChecked={values.hasContacts} onChange={(isOn) => form.set("hasContacts", isOn)} />
        <Check label={t("Alarms where a reminder is on")} isChecked={values.alarms} onChange={(isOn) => form.set("alarms", isOn)} />
      </fieldset>
      <GroupChoice legend={t("Only of these groups; none chosen: of everybody")} ids={values.groupIds} onIds={(ids) => form.set("groupIds", ids)} />
      <SelectField label={t("Language of its texts")} value={values.language} options={[["", t("As in your preferences")], ...Object.entries(LANGUAGES)]} onValue={(language) => form.set("language", language)} />
      {problem && !problem.fields["name"] && <ProblemNote problem={{ ...problem, text: Object.values(problem.fields)[0] ?? problem.text }} />}
      <div class="row">
        {!feed && <button class="main" disabled={isBusy || !isWhole(values)}>{t("Create")}</button>}
        {feed ? <button disabled={!isWhole(values)}>{t("Close")}</button> : <button type="button" onClick={close}>{t("Cancel")}</button>}
        {feed && <span class="soft small">{t("What you change is saved at once.")}</span>}
      </div>
    </form>
  );
}
