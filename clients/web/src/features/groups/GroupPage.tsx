// A group: who is in it, its rule, and what can be done with all at once.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { href, navigate } from "../../app/router.ts";
import { connection, useAccount } from "../../app/session.ts";
import { t, tn } from "../../i18n/index.ts";
import type { PersonRow } from "../../store/people.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { hasDraft } from "../../ui/form.ts";
import { Icon } from "../../ui/Icon.tsx";
import { useKeys } from "../../ui/keyboard.ts";
import { Menu } from "../../ui/Menu.tsx";
import { Page } from "../../ui/Page.tsx";
import { problemOf } from "../../ui/problems.ts";
import { toast } from "../../ui/toast.tsx";
import { type ListControl, VirtualList } from "../../ui/VirtualList.tsx";
import { addToGroup, removeFromGroup } from "../people/actions.ts";
import { intervalLabel } from "../people/intervals.ts";
import { createNewPeople } from "../people/newPeople.ts";
import { PersonPicker } from "../people/PersonPicker.tsx";
import { secondLine } from "../people/secondLine.ts";
import { type Group, GroupForm, groupDraftKey } from "./GroupForm.tsx";
import { PrintedList } from "./PrintedList.tsx";
import { downloadCards, mailtoAll } from "./members.ts";
import "../people/people.css";
import "./groups.css";

const ROW_HEIGHT = 60;

export default function GroupPage({ params }: { params: Record<string, string> }) {
  const { groups, sync } = useAccount();
  const group = groups.byId.value.get(params["id"]!);
  if (group) return <OneGroup group={group} />;
  return (
    <Page title={t("This group is not here")} back="/groups">
      <p>{sync.value.progress ? t("Your account is still being read.") : t("It was deleted.")}</p>
    </Page>
  );
}

function OneGroup({ group }: { group: Group }) {
  const account = useAccount();
  const { id, name, color, description } = group;
  const control = useRef<ListControl | null>(null);
  const everyone = account.people.value;
  const members = useMemo(() => everyone.filter(({ groupIds }) => groupIds.includes(id)), [everyone, account.peopleVersion.value, id]);
  const [isEditing, setEditing] = useState(hasDraft(groupDraftKey(account.id, id)));
  const [isAdding, setAdding] = useState(false);
  const [isPrinting, setPrinting] = useState(false);
  useKeys(
    [
      { key: "e", label: t("Edit the group"), act: () => setEditing(true) },
      { key: "a", label: t("Add people to the group"), act: () => setAdding(true) },
      { key: "l", label: t("Log a contact with all"), act: () => navigate(`/log?group=${id}`) },
      {
        key: "Delete",
        label: t("Take the person out of the group"),
        act: () => {
          const row = members[control.current?.current() ?? 0];
          if (row) void removeFromGroup(account, [row.id], id);
        },
      },
    ],
    [id, members],
  );
  const remove = async () => {
    await account.copy.delete("group", id);
    toast(t("{name} is in the trash.", { name }), () => account.copy.restore("group", id, group));
    navigate("/groups");
  };
  return (
    <Page
      title={name}
      back="/groups"
      heading={
        <>
          <span class="dot group-dot" style={{ background: color }} /> <bdi>{name}</bdi>
        </>
      }
      actions={
        <>
          <button onClick={() => setAdding(true)}>
            <Icon name="add" />
            {t("Add people")}
          </button>
          <Menu
            label={t("More about {name}", { name })}
            items={[
              { label: t("Edit"), onSelect: () => setEditing(true) },
              { label: t("Select people of the group"), onSelect: () => navigate(`/people?group=${id}`) },
              { label: t("Download as vCards"), onSelect: () => void downloadCards(account, members, name) },
              { label: t("Letters and labels"), onSelect: () => navigate(`/letters?groups=${id}`) },
              { label: t("Print"), onSelect: () => setPrinting(true) },
              { label: t("Delete the group"), isDanger: true, onSelect: () => void remove() },
            ]}
          >
            <Icon name="more" />
          </Menu>
        </>
      }
    >
      {description && <p class="group-description">{description}</p>}
      {isEditing && <GroupForm group={group} onDone={() => setEditing(false)} />}
      <Rule group={group} />
      <WithAll group={group} members={members} />
      <p class="soft small" role="status">
        {tn("{count} person", "{count} people", members.length)}
      </p>
      <div class="no-print">
        <VirtualList
          label={t("People in {name}", { name })}
          items={members}
          rowHeight={ROW_HEIGHT}
          keyOf={(row) => row.id}
          textOf={({ sortKey }) => sortKey}
          control={control}
          onOpen={(row) => navigate(`/people/${row.id}`)}
          render={(row) => <Member row={row} onRemove={() => void removeFromGroup(account, [row.id], id)} />}
        />
      </div>
      {isPrinting && <PrintedList members={members} onDone={() => setPrinting(false)} />}
      {isAdding && <AddPeople groupId={id} members={members} onClose={() => setAdding(false)} />}
    </Page>
  );
}

function Member({ row, onRemove }: { row: PersonRow; onRemove: () => void }) {
  const account = useAccount();
  return (
    <>
      <span role="gridcell" class="people-cell">
        <a class="people-link" tabIndex={-1} href={href(`/people/${row.id}`)}>
          <Avatar person={row} />
          <span class="people-text">
            <bdi class="people-name">{row.name}</bdi>
            <span class="soft small people-second">{secondLine(row, account.settings.value, account.groups.byId.value)}</span>
          </span>
        </a>
      </span>
      <span role="gridcell" class="no-print">
        <button class="plain icon" tabIndex={-1} onClick={onRemove} aria-label={t("Take {name} out of the group", { name: row.name })}>
          <Icon name="close" />
        </button>
      </span>
    </>
  );
}

// What the group asks of whoever joins, and writing it to those who are in.
function Rule({ group }: { group: Group }) {
  const account = useAccount();
  const { contactReminder, leadDays } = group;
  if (!contactReminder && leadDays === null) return null;
  const isUnsent = account.pending.value.some(({ id }) => id === group.id);
  const apply = async () => {
    try {
      const { affectedCount } = await connection.ask("POST", `/api/groups/${group.id}/apply-rule`);
      account.syncer.syncNow();
      toast(tn("{count} person was changed.", "{count} people were changed.", affectedCount));
    } catch (error) {
      toast(problemOf(error).text);
    }
  };
  return (
    <section class="card stack tight" aria-label={t("Rule of the group")}>
      <h2>{t("Rule of the group")}</h2>
      <ul>
        {contactReminder && <li>{t("To get in touch: {interval}", { interval: intervalLabel(contactReminder.interval, contactReminder.unit) })}</li>}
        {leadDays !== null && <li>{tn("Reminders of dates also {count} day before", "Reminders of dates also {count} days before", leadDays)}</li>}
      </ul>
      <p class="soft small">{t("It is written to whoever joins. What somebody has of their own stays.")}</p>
      <div class="no-print">
        <button onClick={() => void apply()} disabled={isUnsent}>
          {t("Write it to all who are in the group")}
        </button>
      </div>
    </section>
  );
}

function WithAll({ group, members }: { group: Group; members: PersonRow[] }) {
  const account = useAccount();
  const [mail, setMail] = useState<{ url: string | null; addresses: string[] } | null>(null);
  const ids = members.map(({ id }) => id).join();
  useEffect(() => {
    let isWanted = true;
    void mailtoAll(account, members).then((found) => isWanted && setMail(found));
    return () => {
      isWanted = false;
    };
  }, [ids, account.peopleVersion.value]);
  if (members.length === 0) return null;
  const copyAddresses = async () => {
    await navigator.clipboard.writeText(mail!.addresses.join(", "));
    toast(t("Copied"));
  };
  return (
    <div class="row no-print">
      <a class="button" href={href(`/log?group=${group.id}`)}>
        <Icon name="log" />
        {t("Log a contact with all")}
      </a>
      {mail?.url && (
        <a class="button" href={mail.url}>
          <Icon name="mail" />
          {tn("Write to {count} person", "Write to {count} people", mail.addresses.length)}
        </a>
      )}
      {mail && !mail.url && mail.addresses.length > 0 && (
        <button onClick={() => void copyAddresses()}>
          <Icon name="copy" />
          {tn("Copy {count} address", "Copy {count} addresses", mail.addresses.length)}
        </button>
      )}
    </div>
  );
}

function AddPeople({ groupId, members, onClose }: { groupId: string; members: PersonRow[]; onClose: () => void }) {
  const account = useAccount();
  const [ids, setIds] = useState<string[]>([]);
  const save = async () => {
    if (ids.length) await addToGroup(account, await createNewPeople(account, ids), groupId);
    onClose();
  };
  return (
    <Dialog
      title={t("Add people")}
      onClose={onClose}
      keepsOpen={ids.length > 0}
      onSubmit={() => void save()}
      footer={
        <>
          <button type="button" onClick={onClose}>
            {t("Cancel")}
          </button>
          <button class="main" disabled={ids.length === 0}>
            {t("Save")}
          </button>
        </>
      }
    >
      <PersonPicker label={t("Who")} ids={ids} onIds={setIds} excluded={members.map(({ id }) => id)} autoFocus withNew />
    </Dialog>
  );
}
