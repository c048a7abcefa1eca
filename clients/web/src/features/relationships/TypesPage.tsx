// Kinds of relationships: how they are called from both sides, and their colours.
import type { Records } from "contacts-client";
import { useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { connection, useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { saveEdit } from "../../store/save.ts";
import { Check, Field, SelectField, TextField } from "../../ui/Field.tsx";
import { useForm } from "../../ui/form.ts";
import { Icon } from "../../ui/Icon.tsx";
import { useKeys } from "../../ui/keyboard.ts";
import { Page } from "../../ui/Page.tsx";
import { problemOf } from "../../ui/problems.ts";
import { LiveDialog, SaveDialog } from "../../ui/SaveDialog.tsx";
import { toast } from "../../ui/toast.tsx";

type RelationshipType = Records["relationshipType"];

export default function TypesPage() {
  const account = useAccount();
  const { relationshipTypes, copy, syncer } = account;
  const [edited, setEdited] = useState<RelationshipType | "new" | null>(null);
  const types = relationshipTypes.all.sort((one, other) => one.label.localeCompare(other.label));
  useKeys([{ key: "a", label: t("New type"), act: () => setEdited("new") }]);
  // Sent at once: whether the type is in use is for the service to say, and is said here.
  const remove = async (type: RelationshipType) => {
    try {
      await connection.ask("DELETE", `/api/relationship-types/${type.id}`);
      syncer.syncNow();
      toast(t("{name} is in the trash.", { name: type.label }), () => copy.restore("relationshipType", type.id, type));
    } catch (error) {
      toast(problemOf(error).text);
    }
  };
  return (
    <Page
      title={t("Kinds of relationship")}
      back="/settings"
      width="form"
      actions={
        <>
          <a class="button" href={href("/relationships/suggestions")}>
            {t("Suggestions")}
          </a>
          <button class="main" onClick={() => setEdited("new")}>
            <Icon name="add" />
            {t("New type")}
          </button>
        </>
      }
    >
      <ul class="card plain-lines">
        {types.map((type) => (
          <li key={type.id} class="row apart beside">
            <span class="row nowrap">
              <span class="dot" style={{ background: type.color }} />
              <span>
                <strong>
                  <bdi>{type.label}</bdi>
                </strong>
                <span class="soft small block">{bothSides(type)}</span>
              </span>
            </span>
            <span class="row tight">
              <button class="plain icon" onClick={() => setEdited(type)} aria-label={t("Change {name}", { name: type.label })}>
                <Icon name="edit" />
              </button>
              <button class="plain icon" onClick={() => void remove(type)} aria-label={t("Delete {name}", { name: type.label })}>
                <Icon name="trash" />
              </button>
            </span>
          </li>
        ))}
      </ul>
      {edited && <TypeDialog type={edited === "new" ? null : edited} types={types} onClose={() => setEdited(null)} />}
    </Page>
  );
}

function bothSides({ symmetric, inverse }: RelationshipType): string {
  if (symmetric) return t("the same from both sides");
  return inverse ? t("the other one is {type}", { type: inverse.label }) : t("nothing is said of the other one");
}

// What a type says of the other person: the same, another type, or a new one by its label.
const NEW = "new";

function TypeDialog({ type, types, onClose }: { type: RelationshipType | null; types: RelationshipType[]; onClose: () => void }) {
  const { copy, id: accountId } = useAccount();
  const form = useForm<TypeValues>(`${accountId} relationship type ${type?.id ?? NEW}`, () => ({
    label: type?.label ?? "",
    hasColor: type !== null,
    color: type?.color ?? "#868e96",
    symmetric: type?.symmetric ?? false,
    inverseId: type?.inverseId ?? NEW,
    inverseLabel: "",
  }), type);
  const { label, color, symmetric, inverseId, inverseLabel } = form.values.value;
  // A type has one inverse: others that have one already cannot be it.
  const free = types.filter((other) => other.id !== type?.id && !other.symmetric && (!other.inverseId || other.inverseId === type?.id));
  const isTaken = types.some((other) => other.id !== type?.id && other.label.toLowerCase() === label.trim().toLowerCase());
  const isReady = label.trim() !== "" && !isTaken && (symmetric || inverseId !== NEW || inverseLabel.trim() !== "");
  const fields = (
    <>
      <TextField label={t("What somebody is to the other")} value={label} maxLength={50} required onValue={(value) => form.set("label", value)} error={isTaken ? t("There is a type of this name.") : undefined} />
      <Field label={t("Colour")}>
        {(attributes) => (
          <input
            {...attributes}
            type="color"
            value={color}
            onInput={({ currentTarget }) => {
              form.set("color", currentTarget.value);
              form.set("hasColor", true);
            }}
          />
        )}
      </Field>
      <Check label={t("The same from both sides, as friends are")} isChecked={symmetric} onChange={(isSame) => form.set("symmetric", isSame)} />
      {!symmetric && (
        <SelectField
          label={t("What the other is")}
          value={inverseId}
          options={[[NEW, t("A new type")], ...free.map((other) => [other.id, other.label] as const)]}
          onValue={(value) => form.set("inverseId", value)}
        />
      )}
      {!symmetric && inverseId === NEW && <TextField label={t("Name of the other type")} value={inverseLabel} maxLength={50} required onValue={(value) => form.set("inverseLabel", value)} />}
      {isReady && !symmetric && (
        <p class="banner">
          {t("{name} is {type} of {other}.", { name: "Anna", type: label.trim(), other: "Ben" })}{" "}
          {t("{name} is {type} of {other}.", { name: "Ben", type: inverseId === NEW ? inverseLabel.trim() : (types.find(({ id }) => id === inverseId)?.label ?? ""), other: "Anna" })}
        </p>
      )}
    </>
  );
  if (type) {
    return (
      <LiveDialog
        title={t("Change {name}", { name: type.label })}
        form={form}
        isReady={isReady}
        toRecord={toRecord}
        onSave={(edit) => saveEdit(copy, "relationshipType", type, edit)}
        // The other type is named once, when it is made.
        onUndo={({ inverseLabel, ...before }: { inverseLabel?: unknown }) => copy.update("relationshipType", type.id, inverseLabel === undefined ? before : { ...before, inverseId: type.inverseId })}
        onClose={onClose}
      >
        {fields}
      </LiveDialog>
    );
  }
  const create = async () => {
    await copy.create("relationshipType", { name: label.trim(), ...toRecord(form.values.value) });
  };
  return (
    <SaveDialog title={t("New type")} form={form} isReady={isReady} onSave={create} onClose={onClose}>
      {fields}
    </SaveDialog>
  );
}

interface TypeValues {
  label: string;
  hasColor: boolean;
  color: string;
  symmetric: boolean;
  inverseId: string;
  inverseLabel: string;
}

function toRecord({ label, hasColor, color, symmetric, inverseId, inverseLabel }: TypeValues) {
  const inverse = symmetric ? {} : inverseId === NEW ? { inverseLabel: inverseLabel.trim() } : { inverseId };
  return { label: label.trim(), ...(hasColor && { color }), symmetric, ...inverse };
}
