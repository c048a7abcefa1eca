// The account's own fields: name, kind, options and their order.
import type { Records } from "contacts-client";
import { useState } from "preact/hooks";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { saveEdit } from "../../store/save.ts";
import { AreaField, SelectField, TextField } from "../../ui/Field.tsx";
import { useForm } from "../../ui/form.ts";
import { Empty } from "../../ui/Empty.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { useKeys } from "../../ui/keyboard.ts";
import { Page } from "../../ui/Page.tsx";
import { LiveDialog, SaveDialog } from "../../ui/SaveDialog.tsx";
import { toast } from "../../ui/toast.tsx";
import "./groups.css";

type Template = Records["customFieldTemplate"];
type Kind = Template["type"];

const KINDS: { kind: Kind; label: string }[] = [
  { kind: "TEXT", label: "Text" },
  { kind: "NUMBER", label: "A number" },
  { kind: "BOOLEAN", label: "Yes or no" },
  { kind: "SELECT", label: "One of several" },
];
const MAX_OPTIONS = 50;

export default function CustomFieldsPage() {
  const { templates, copy } = useAccount();
  const [edited, setEdited] = useState<Template | "new" | null>(null);
  const sorted = templates.all.sort((one, other) => one.order - other.order || one.name.localeCompare(other.name));
  useKeys([{ key: "a", label: t("New field"), act: () => setEdited("new") }]);
  const move = async (from: number, to: number) => {
    const wanted = [...sorted];
    wanted.splice(to, 0, ...wanted.splice(from, 1));
    for (const [order, template] of wanted.entries()) if (template.order !== order) await copy.update("customFieldTemplate", template.id, { order });
  };
  const remove = async (template: Template) => {
    await copy.delete("customFieldTemplate", template.id);
    toast(t("{name} is in the trash.", { name: template.name }), () => copy.restore("customFieldTemplate", template.id, template));
  };
  return (
    <Page
      title={t("Own fields")}
      back="/settings"
      width="form"
      actions={
        <button class="main" onClick={() => setEdited("new")}>
          <Icon name="add" />
          {t("New field")}
        </button>
      }
    >
      <p class="soft">{t("What you want to know of people beyond what is there: shoe size, club, how you met. They stand in the details of each person.")}</p>
      {sorted.length === 0 && <Empty kind="note"><p>{t("No field of your own yet.")}</p></Empty>}
      {sorted.length > 0 && (
        <ol class="card plain-lines">
          {sorted.map((template, index) => (
            <li key={template.id} class="row apart beside">
              <span>
                <strong>
                  <bdi>{template.name}</bdi>
                </strong>
                <span class="soft small block">{[t(KINDS.find(({ kind }) => kind === template.type)?.label ?? "Text"), template.options.join(", ")].filter(Boolean).join(": ")}</span>
              </span>
              <span class="row tight">
                {sorted.length > 1 && (
                  <>
                    <button class="plain icon" disabled={index === 0} onClick={() => void move(index, index - 1)} aria-label={t("Move {name} up", { name: template.name })}>
                      <span aria-hidden="true">↑</span>
                    </button>
                    <button class="plain icon" disabled={index === sorted.length - 1} onClick={() => void move(index, index + 1)} aria-label={t("Move {name} down", { name: template.name })}>
                      <span aria-hidden="true">↓</span>
                    </button>
                  </>
                )}
                <button class="plain icon" onClick={() => setEdited(template)} aria-label={t("Change {name}", { name: template.name })}>
                  <Icon name="edit" />
                </button>
                <button class="plain icon" onClick={() => void remove(template)} aria-label={t("Delete {name}", { name: template.name })}>
                  <Icon name="trash" />
                </button>
              </span>
            </li>
          ))}
        </ol>
      )}
      {edited && <FieldDialog template={edited === "new" ? null : edited} order={sorted.length} onClose={() => setEdited(null)} />}
    </Page>
  );
}

function FieldDialog({ template, order, onClose }: { template: Template | null; order: number; onClose: () => void }) {
  const { copy, id: accountId } = useAccount();
  const form = useForm(`${accountId} custom field ${template?.id ?? "new"}`, () => ({
    name: template?.name ?? "",
    type: template?.type ?? ("TEXT" as Kind),
    options: template?.options.join("\n") ?? "",
  }), template);
  const { name, type, options: text } = form.values.value;
  const options = linesOf(text);
  const isReady = name.trim() !== "" && (type !== "SELECT" || (options.length > 0 && options.length <= MAX_OPTIONS));
  const toRecord = (values: { name: string; options: string }) => ({ name: values.name.trim(), ...(type === "SELECT" && { options: linesOf(values.options) }) });
  const fields = (
    <>
      <TextField label={t("Name of the field")} value={name} maxLength={60} required onValue={(value) => form.set("name", value)} />
      {!template && <SelectField label={t("What it holds")} value={type} options={KINDS.map(({ kind, label }) => [kind, t(label)] as const)} onValue={(value) => form.set("type", value as Kind)} hint={t("This cannot be changed later.")} />}
      {type === "SELECT" && <AreaField label={t("Options, one a line")} value={text} rows={5} onValue={(value) => form.set("options", value)} {...(template ? { hint: t("An option that is renamed is renamed for everybody. One that somebody has cannot be left out.") } : {})} />}
    </>
  );
  if (template) {
    return (
      <LiveDialog
        title={t("Change {name}", { name: template.name })}
        form={form}
        isReady={isReady}
        toRecord={toRecord}
        onSave={(edit) => saveEdit(copy, "customFieldTemplate", template, edit)}
        onUndo={(before) => copy.update("customFieldTemplate", template.id, before)}
        onClose={onClose}
      >
        {fields}
      </LiveDialog>
    );
  }
  const create = async () => {
    await copy.create("customFieldTemplate", { ...toRecord(form.values.value), type, order });
  };
  return (
    <SaveDialog title={t("New field")} form={form} isReady={isReady} onSave={create} onClose={onClose}>
      {fields}
    </SaveDialog>
  );
}

function linesOf(text: string): string[] {
  return [...new Set(text.split("\n").map((line) => line.trim()).filter(Boolean))];
}
