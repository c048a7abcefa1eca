// A group: who is in it, its rule, and what can be done with all at once.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { href, navigate, place, setQuery } from "../../app/router.ts";
import { connection, useAccount } from "../../app/session.ts";
import { nearDayInWords, today } from "../../i18n/days.ts";
import { t, tn } from "../../i18n/index.ts";
import type { PersonRow } from "../../store/people.ts";
import { useAll } from "../../store/records.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { hasDraft } from "../../ui/form.ts";
import { nearestHue } from "../../ui/hue.ts";
import { Icon } from "../../ui/Icon.tsx";
import { useKeys } from "../../ui/keyboard.ts";
import { Menu } from "../../ui/Menu.tsx";
import { Page } from "../../ui/Page.tsx";
import { problemOf } from "../../ui/problems.ts";
import { toast } from "../../ui/toast.tsx";
import { type ListControl, VirtualList } from "../../ui/VirtualList.tsx";
import { DateRow } from "../dates/DateRow.tsx";
import { nextOccurrences } from "../dates/occurrences.ts";
import { addToGroup, removeFromGroup } from "../people/actions.ts";
import { intervalLabel } from "../people/intervals.ts";
import { createNewPeople } from "../people/newPeople.ts";
import { PersonPicker } from "../people/PersonPicker.tsx";
import { secondLine } from "../people/secondLine.ts";
import { SharedGroup } from "../sharing/SharedGroup.tsx";
import { ShareGroupDialog } from "../sharing/ShareGroupDialog.tsx";
import { shareOfGroup } from "../sharing/shares.ts";
import { type Group, GroupForm, groupDraftKey } from "./GroupForm.tsx";
import { Together } from "./Together.tsx";
import { PrintedList } from "./PrintedList.tsx";
import { downloadCards, mailtoAll } from "./members.ts";
import "../dates/dates.css";
import "../people/people.css";
import "./groups.css";

const ROW_HEIGHT = 60;
const MAX_FACES = 150; // more of them stand in the list, of which only the rows in sight are drawn
const DATES_SHOWN = 5;

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
  const [isSharing, setSharing] = useState(false);
  const share = shareOfGroup(account, id);
  useKeys(
    [
      { key: "e", label: t("Edit the group"), act: () => setEditing(true) },
      { key: "a", label: t("Add people to the group"), act: () => setAdding(true) },
      { key: "s", label: t("Share with others"), act: () => (share ? navigate(`/shares/${share.id}`) : setSharing(true)) },
      { key: "l", label: t("Log a contact with all"), act: () => navigate(`/log?group=${id}`) },
      { key: "w", label: t("Write to all"), act: () => document.querySelector<HTMLElement>("[data-write]")?.click() },
      {
        key: "Delete",
        label: t("Take the person out of the group"),
        act: () => {
          const row = members[control.current?.current() ?? 0];
          if (row) void removeFromGroup(account, [row.id], id);
        },
      },
    ],
    [id, members, share],
  );
  const remove = async () => {
    await account.copy.delete("group", id);
    toast(share ? t("{name} is in the trash. It is not shared meanwhile; all people are still here.", { name }) : t("{name} is in the trash.", { name }), () => account.copy.restore("group", id, group));
    navigate("/groups");
  };
  const hasFaces = members.length <= MAX_FACES && place.value.query.get("view") !== "list";
  return (
    <Page
      title={name}
      back="/groups"
      class={`group-page ${nearestHue(color)}`}
      heading={<bdi>{name}</bdi>}
      actions={
        <Menu
          label={t("More about {name}", { name })}
          items={[
            { label: t("Edit"), onSelect: () => setEditing(true) },
            { label: t("Share with others"), onSelect: () => (share ? navigate(`/shares/${share.id}`) : setSharing(true)) },
            { label: t("Select people of the group"), onSelect: () => navigate(`/people?group=${id}`) },
            { label: t("Download as vCards"), onSelect: () => void downloadCards(account, members, name) },
            { label: t("Print"), onSelect: () => setPrinting(true) },
            { label: t("Delete the group"), isDanger: true, onSelect: () => void remove() },
          ]}
        >
          <Icon name="more" />
        </Menu>
      }
    >
      {description && <p class="group-description">{description}</p>}
      {isEditing && <GroupForm group={group} onDone={() => setEditing(false)} />}
      {share && <SharedGroup share={share} />}
      <WithAll group={group} members={members} onAdd={() => setAdding(true)} onShare={share ? null : () => setSharing(true)} />
      <div class="two no-print">
        <section class="section">
          <header>
            <h2>
              <span role="status">{tn("{count} person", "{count} people", members.length)}</span>
            </h2>
            {members.length > 0 && members.length <= MAX_FACES && (
              <div class="segments">
                <button aria-pressed={hasFaces} aria-label={t("Faces")} title={t("Faces")} onClick={() => setQuery({ view: null })}>
                  <Icon name="group" size={18} />
                </button>
                <button aria-pressed={!hasFaces} aria-label={t("List")} title={t("List")} onClick={() => setQuery({ view: "list" })}>
                  <Icon name="menu" size={18} />
                </button>
              </div>
            )}
          </header>
          {members.length === 0 && (
            <div class="card empty">
              <p>{t("Nobody here yet. Add people, or drop them on the group at the side.")}</p>
              <button class="button" onClick={() => setAdding(true)}>
                {t("Add people")}
              </button>
            </div>
          )}
          {members.length > 0 && hasFaces && <Faces members={members} />}
          {members.length > 0 && !hasFaces && (
            <div class="card">
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
          )}
        </section>
        <div class="stack">
          <NextDates members={members} />
          <Together members={members} />
          <Rule group={group} />
        </div>
      </div>
      {isPrinting && <PrintedList members={members} onDone={() => setPrinting(false)} />}
      {isSharing && <ShareGroupDialog group={group} onClose={() => setSharing(false)} />}
      {isAdding && <AddPeople groupId={id} members={members} onClose={() => setAdding(false)} />}
    </Page>
  );
}

function Faces({ members }: { members: PersonRow[] }) {
  const account = useAccount();
  return (
    <ul class="card group-faces">
      {members.map((row) => (
        <li key={row.id}>
          <a href={href(`/people/${row.id}`)}>
            <Avatar person={row} size="big" />
            <bdi>{row.name}</bdi>
            <span class="soft small cut">{secondLine(row, account.settings.value, account.groups.byId.value)}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}

// The next birthdays and other days of those in the group.
function NextDates({ members }: { members: PersonRow[] }) {
  const account = useAccount();
  const dates = useAll("importantDate").value;
  const now = today(account.settings.value.timezone);
  const coming = useMemo(() => {
    const ids = new Set(members.map(({ id }) => id));
    return nextOccurrences(account, (dates ?? []).filter(({ personId }) => ids.has(personId)), now, DATES_SHOWN);
  }, [members, dates, now]);
  if (coming.length === 0) return null;
  return (
    <section class="section">
      <header>
        <h2>{t("Next dates")}</h2>
      </header>
      <ul class="card flush lines">
        {coming.map((each) => (
          <DateRow key={each.id} occurrence={each} now={now} when={nearDayInWords(each.day, now)} isSmall />
        ))}
      </ul>
    </section>
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
    <section class="section" aria-label={t("Rule of the group")}>
      <header>
        <h2>{t("Rule of the group")}</h2>
      </header>
      <div class="card stack tight">
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
      </div>
    </section>
  );
}

// `onShare` is null if the group is shared already.
function WithAll({ group, members, onAdd, onShare }: { group: Group; members: PersonRow[]; onAdd: () => void; onShare: (() => void) | null }) {
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
    <div class="row group-actions no-print">
      <a class="button main" href={href(`/log?group=${group.id}`)}>
        <Icon name="log" />
        {t("Log a contact with all")}
      </a>
      {mail?.url && (
        <a class="button" href={mail.url} data-write>
          <Icon name="mail" />
          {tn("Write to {count} person", "Write to {count} people", mail.addresses.length)}
        </a>
      )}
      {mail && !mail.url && mail.addresses.length > 0 && (
        <button onClick={() => void copyAddresses()} data-write>
          <Icon name="copy" />
          {tn("Copy {count} address", "Copy {count} addresses", mail.addresses.length)}
        </button>
      )}
      <button class="button" onClick={onAdd}>
        <Icon name="add" />
        {t("Add people")}
      </button>
      {onShare && (
        <button class="button" onClick={onShare}>
          <Icon name="share" />
          {t("Share")} …
        </button>
      )}
      <a class="button" href={href(`/letters?groups=${group.id}`)}>
        <Icon name="print" />
        {t("Letters|by post")}
      </a>
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
