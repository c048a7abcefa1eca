// What can be done with those who are selected, loaded with the first selection. Every action works offline: it is an edit of each person.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { navigate } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { t, tn } from "../../i18n/index.ts";
import type { PersonRow } from "../../store/people.ts";
import { Dialog } from "../../ui/Dialog.tsx";
import { SelectField, TextField } from "../../ui/Field.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Menu } from "../../ui/Menu.tsx";
import { toast } from "../../ui/toast.tsx";
import { occasion } from "../person/dates.ts";
import { addToGroup, deletePeople, removeFromGroup, setContactReminder, setDateReminders, setField, setRelationship } from "./actions.ts";
import { intervals } from "./intervals.ts";
import type { Selection } from "./selection.ts";

const MAX_LETTERS = 200; // people whose ids an address holds that proxies let through (8 KiB)

export default function SelectionBar({ selection, shown }: { selection: Selection; shown: readonly PersonRow[] }) {
  const account = useAccount();
  const bar = useRef<HTMLDivElement>(null);
  const [asks, setAsks] = useState<"dates" | "group" | "leave" | "relationship" | "reminder" | null>(null);
  const ids = [...selection.ids.value];
  const groups = account.groups.all.sort((one, other) => one.name.localeCompare(other.name));
  useLayoutEffect(() => {
    if (!selection.wantsGroup.value) return;
    selection.wantsGroup.value = false;
    bar.current?.querySelector<HTMLElement>('[data-key="t"]')?.click();
  }, [selection.wantsGroup.value]);
  if (ids.length === 0) return null;
  const one = (act: () => void) => () => {
    act();
    selection.clear();
  };
  const write = async () => {
    const { mailtoAll } = await import("../groups/members.ts");
    const rows = shown.filter(({ id }) => selection.ids.value.has(id));
    const { url, addresses } = await mailtoAll(account, rows);
    if (url) location.href = url;
    else if (addresses.length === 0) toast(t("None of them has an e-mail address."));
    else {
      await navigator.clipboard?.writeText(addresses.join(", "));
      toast(tn("{count} address was copied.", "{count} addresses were copied.", addresses.length));
    }
  };
  const exportCards = async () => {
    const { downloadCards } = await import("../groups/members.ts");
    await downloadCards(account, shown.filter(({ id }) => selection.ids.value.has(id)), t("People"));
  };
  return (
    <div ref={bar} class="selection-bar no-print" role="group" aria-label={t("With those selected")}>
      <strong>{tn("{count} selected", "{count} selected", ids.length)}</strong>
      {ids.length < shown.length && (
        <button class="plain" onClick={() => selection.selectAll(shown)}>
          {t("Select all")}
        </button>
      )}
      <span class="selection-acts">
        <Menu
          label={t("Add to a group")}
          letter="t"
          items={[
            ...groups.map(({ id, name }) => ({ label: name, onSelect: () => void addToGroup(account, ids, id) })),
            { label: t("New group …"), onSelect: () => setAsks("group") },
          ]}
        >
          <Icon name="group" />
        </Menu>
        <button class="plain icon" onClick={() => navigate(`/log?${ids.slice(0, 50).map((id) => `person=${id}`).join("&")}`)} aria-label={t("Log a contact")} title={t("Log a contact")}>
          <Icon name="log" />
        </button>
        <button class="plain icon" onClick={() => void write()} aria-label={t("Write all an e-mail")} title={t("Write all an e-mail")}>
          <Icon name="mail" />
        </button>
        <Menu
          label={t("More with those selected")}
          items={[
            ids.length === 2 && { label: t("Join the two"), onSelect: () => navigate(`/duplicates/compare?one=${ids[0]}&other=${ids[1]}`) },
            { label: t("Save as vCards"), onSelect: () => void exportCards() },
            ids.length <= MAX_LETTERS && { label: t("Letters|by post"), onSelect: () => navigate(`/letters?people=${ids.join()}`) },
            { label: t("Set the relationship"), onSelect: () => setAsks("relationship") },
            { label: t("Take out of a group"), onSelect: () => setAsks("leave") },
            { label: t("Remind me to get in touch"), onSelect: () => setAsks("reminder") },
            { label: t("Reminders of their dates"), onSelect: () => setAsks("dates") },
            { label: t("Make favourites"), onSelect: () => void setField(account, ids, "favourite", true) },
            { label: t("No longer favourites"), onSelect: () => void setField(account, ids, "favourite", false) },
            { label: t("Make quiet"), onSelect: () => void setField(account, ids, "quiet", true) },
            { label: t("No longer quiet"), onSelect: () => void setField(account, ids, "quiet", false) },
          ]}
        >
          <Icon name="more" />
        </Menu>
        <button class="plain icon" onClick={one(() => void deletePeople(account, ids))} aria-label={t("Delete")} title={t("Delete")}>
          <Icon name="trash" />
        </button>
      </span>
      <button class="plain icon" onClick={() => selection.clear()} aria-label={t("End the selection")} title={t("End the selection")}>
        <Icon name="close" />
      </button>
      {asks === "group" && <NewGroup ids={ids} onClose={() => setAsks(null)} />}
      {asks === "leave" && (
        <Choice
          title={t("Take out of a group")}
          label={t("Group")}
          options={groups.map(({ id, name }) => [id, name] as const)}
          onChoose={(id) => void removeFromGroup(account, ids, id)}
          onClose={() => setAsks(null)}
        />
      )}
      {asks === "reminder" && (
        <Choice title={t("Remind me to get in touch")} label={t("Remind me")} options={intervals()} onChoose={(every) => void setContactReminder(account, ids, every === "never" ? "" : every)} onClose={() => setAsks(null)} />
      )}
      {asks === "dates" && (
        <Choice
          title={t("Reminders of their dates")}
          label={t("Remind me")}
          options={["BIRTHDAY", "ANNIVERSARY", "NAMEDAY", "MEMORIAL"].flatMap((type) => {
            const name = occasion({ type: type as "BIRTHDAY", title: null });
            return [[`${type} on`, t("{occasion}: remind me", { occasion: name })] as const, [`${type} off`, t("{occasion}: no reminder", { occasion: name })] as const];
          })}
          onChoose={(chosen) => {
            const [type, state] = chosen.split(" ");
            void setDateReminders(account, ids, type!, state === "on");
          }}
          onClose={() => setAsks(null)}
        />
      )}
      {asks === "relationship" && (
        <Choice
          title={t("Set the relationship")}
          label={t("They are to you")}
          options={account.relationshipTypes.all.map(({ id, label }) => [id, label] as const)}
          onChoose={(id) => void setRelationship(account, ids, id)}
          onClose={() => setAsks(null)}
        />
      )}
    </div>
  );
}

function NewGroup({ ids, onClose }: { ids: readonly string[]; onClose: () => void }) {
  const account = useAccount();
  const [name, setName] = useState("");
  const isTaken = account.groups.all.some((other) => other.name.toLowerCase() === name.trim().toLowerCase());
  const isReady = name.trim() !== "" && !isTaken;
  const make = async () => {
    if (!isReady) return;
    onClose();
    await addToGroup(account, ids, await account.copy.create("group", { name: name.trim() }));
  };
  return (
    <Dialog
      title={t("New group")}
      onClose={onClose}
      keepsOpen={name !== ""}
      onSubmit={() => void make()}
      footer={
        <>
          <button type="button" onClick={onClose}>
            {t("Cancel")}
          </button>
          <button class="main" disabled={!isReady}>
            {t("Create")}
          </button>
        </>
      }
    >
      <TextField label={t("Name of the group")} value={name} maxLength={100} autoFocus onValue={setName} error={isTaken ? t("There is a group of this name.") : undefined} />
    </Dialog>
  );
}

interface ChoiceProps {
  title: string;
  label: string;
  options: readonly (readonly [string, string])[];
  onChoose: (id: string) => void;
  onClose: () => void;
}

function Choice({ title, label, options, onChoose, onClose }: ChoiceProps) {
  const [chosen, setChosen] = useState(options[0]?.[0] ?? "");
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={() => {
        if (chosen) onChoose(chosen);
        onClose();
      }}
      footer={
        <>
          <button type="button" onClick={onClose}>
            {t("Cancel")}
          </button>
          <button class="main" disabled={!chosen}>
            {t("Save")}
          </button>
        </>
      }
    >
      {options.length ? <SelectField label={label} value={chosen} options={options} onValue={setChosen} /> : <p>{t("There is none yet.")}</p>}
    </Dialog>
  );
}
