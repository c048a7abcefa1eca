// The inputs of a device's settings: its name, whom it gets, and how.
import { t } from "../../i18n/index.ts";
import { Check, TextField } from "../../ui/Field.tsx";
import type { Form } from "../../ui/form.ts";
import type { Problem } from "../../ui/problems.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { GroupChoice } from "../groups/GroupChoice.tsx";
import type { DeviceValues } from "./settings.ts";

interface Props<V extends DeviceValues> {
  form: Form<V>;
  problem: Problem | null;
  children?: preact.ComponentChildren; // between the name and whom it gets
}

export function DeviceFields<V extends DeviceValues>({ form, problem, children }: Props<V>) {
  const values = form.values.value;
  const check = (field: "favourites" | "reachable" | "groupCards" | "alarms", label: string) => <Check label={label} isChecked={values[field]} onChange={(isChecked) => form.set(field, isChecked as V[typeof field])} />;
  const choose = (isSelection: boolean) => form.set("isSelection", isSelection as V["isSelection"]);
  return (
    <>
      {form.wasRestored && <p class="banner">{t("This is what you typed before. It was not saved yet.")}</p>}
      <TextField label={t("Name of the device")} required maxLength={100} autoFocus value={values.name} onValue={(name) => form.set("name", name as V["name"])} error={problem?.fields["name"]} />
      {children}
      <fieldset class="device-choice">
        <legend>{t("Whom it gets")}</legend>
        <label class="check">
          <input type="radio" name="book" checked={!values.isSelection} onChange={() => choose(false)} />
          <span>{t("Everybody")}</span>
        </label>
        <label class="check">
          <input type="radio" name="book" checked={values.isSelection} onChange={() => choose(true)} />
          <span>{t("Only some")}</span>
        </label>
        {values.isSelection && (
          <div class="stack tight device-selection">
            <p class="soft small">{t("Who fulfils all that is chosen here. Who no longer does leaves the device and nothing else.")}</p>
            {check("favourites", t("Favourites"))}
            {check("reachable", t("With a number, mail or address"))}
            <GroupChoice legend={t("In one of these groups")} ids={values.groupIds} onIds={(ids) => form.set("groupIds", ids as V["groupIds"])} />
          </div>
        )}
      </fieldset>
      <fieldset class="device-choice">
        <legend>{t("How it gets them")}</legend>
        {check("groupCards", t("Groups as cards of their own, as Apple's programs want them"))}
        {check("alarms", t("Alarms with the dates in its calendar"))}
      </fieldset>
      {problem && !problem.fields["name"] && <ProblemNote problem={{ ...problem, text: Object.values(problem.fields)[0] ?? problem.text }} />}
    </>
  );
}
