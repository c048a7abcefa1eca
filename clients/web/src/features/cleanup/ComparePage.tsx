// Two people field by field: which value stays where both have one. Lists (numbers, groups, dates ...) are joined.
import { useState } from "preact/hooks";
import { goBack, href, navigate, place } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { useRecord } from "../../store/records.ts";
import { useForm } from "../../ui/form.ts";
import { Icon } from "../../ui/Icon.tsx";
import { Page } from "../../ui/Page.tsx";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import type { Person } from "../person/entries.ts";
import { type Choice, defaultChoice, differingFields, type MergeField, overridesOf, valueInWords } from "./mergeFields.ts";
import { dismiss, mergePeople } from "./merging.ts";
import { PersonCard } from "./PersonCard.tsx";
import "./cleanup.css";

export default function ComparePage() {
  const { query } = place.value;
  const one = useRecord("person", query.get("one") ?? "").value;
  const other = useRecord("person", query.get("other") ?? "").value;
  if (one === undefined || other === undefined) return <div class="page" aria-busy="true" />;
  if (one === null || other === null || one.id === other.id) {
    return (
      <Page title={t("Compare two people")} back="/duplicates">
        <p>{t("One of them is not here any more.")}</p>
        <p>
          <a href={href("/duplicates")}>{t("Duplicates")}</a>
        </p>
      </Page>
    );
  }
  return <Compare one={one} other={other} />;
}

interface Values {
  isSwapped: boolean;
  choices: Record<string, Choice>;
}

function Compare({ one, other }: { one: Person; other: Person }) {
  const account = useAccount();
  const form = useForm<Values>(`${account.id} merge ${one.id} ${other.id}`, () => ({ isSwapped: false, choices: {} }));
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const { isSwapped, choices } = form.values.value;
  const [primary, secondary] = isSwapped ? [other, one] : [one, other];
  const nameOf = (person: Person) => account.person(person.id)?.name || person.name;
  const fields = differingFields(primary, secondary);
  // A change that the service does not have yet would be merged without.
  const isUnsent = account.pending.value.some(({ id, base, body }) => [id, base["personId"], body["personId"]].some((each) => each === one.id || each === other.id));
  const attempt = async (work: () => Promise<void>) => {
    setBusy(true);
    setProblem(null);
    try {
      await work();
      form.end();
    } catch (error) {
      setProblem(problemOf(error));
    }
    setBusy(false);
  };
  const merge = () =>
    attempt(async () => {
      await mergePeople(account, primary.id, secondary.id, overridesOf(primary, secondary, choices), nameOf(primary));
      navigate(`/people/${primary.id}`, { replace: true });
    });
  const separate = () =>
    attempt(async () => {
      await dismiss([primary, secondary].map((person) => ({ id: person.id, name: nameOf(person) })));
      goBack("/duplicates");
    });
  return (
    <Page title={t("Compare two people")} back="/duplicates" width="wide">
      <ul class="side-by-side card">
        {[primary, secondary].map((person, index) => (
          <li key={person.id} class="stack tight">
            <span class="soft small">{index === 0 ? t("Stays") : t("Goes into the other one, then to the trash")}</span>
            <PersonCard id={person.id} name={nameOf(person)} />
          </li>
        ))}
      </ul>
      <div>
        <button onClick={() => form.set("isSwapped", !isSwapped)}>
          <Icon name="swap" />
          {t("Swap the two")}
        </button>
      </div>
      {fields.length > 0 && (
        <section class="card stack">
          <h2>{t("Where both differ")}</h2>
          {fields.map((field) => (
            <FieldChoice
              key={field.name}
              field={field}
              primary={primary}
              secondary={secondary}
              choice={choices[field.name] ?? defaultChoice(field, primary)}
              onChoice={(choice) => form.set("choices", { ...choices, [field.name]: choice })}
            />
          ))}
        </section>
      )}
      <p class="soft">{t("Numbers, addresses, groups, dates, contacts and relationships of both are joined.")}</p>
      {isUnsent && <p class="banner warning">{t("A change of theirs is not sent yet. They can be merged when it is.")}</p>}
      <ProblemNote problem={problem} />
      <div class="row">
        <button class="main" disabled={isBusy || isUnsent} onClick={() => void merge()}>
          {t("Merge")}
        </button>
        <button disabled={isBusy} onClick={() => void separate()}>
          {t("They are different people")}
        </button>
      </div>
    </Page>
  );
}

interface ChoiceProps {
  field: MergeField;
  primary: Person;
  secondary: Person;
  choice: Choice;
  onChoice: (choice: Choice) => void;
}

function FieldChoice({ field, primary, secondary, choice, onChoice }: ChoiceProps) {
  const account = useAccount();
  const options: [Choice, string][] = [
    ["primary", valueInWords(account, primary, field)],
    ["secondary", valueInWords(account, secondary, field)],
  ];
  if (field.name === "notes" && primary.notes && secondary.notes) options.push(["both", t("Both, one after the other")]);
  return (
    <fieldset class="merge-field">
      <legend>{t(field.label)}</legend>
      {options.map(([value, text]) => (
        <label key={value} class={`merge-choice ${choice === value ? "chosen" : ""}`}>
          <input type="radio" name={`merge-${field.name}`} checked={choice === value} onChange={() => onChoice(value)} />
          <bdi>{text}</bdi>
        </label>
      ))}
    </fieldset>
  );
}
