// The navigation: a bar of five on a phone, a rail on a tablet, the sidebar on a desk.
import { useEffect, useState } from "preact/hooks";
import { addToGroup } from "../features/people/actions.ts";
import { today } from "../i18n/days.ts";
import { formatNumber, t, tn } from "../i18n/index.ts";
import { groupSizes } from "../store/people.ts";
import { Avatar } from "../ui/Avatar.tsx";
import { nearestHue } from "../ui/hue.ts";
import { Icon, type IconName } from "../ui/Icon.tsx";
import { isHelpOpen, useKeys } from "../ui/keyboard.ts";
import { isDesk, isPhone } from "../ui/media.ts";
import { Brand } from "./Brand.tsx";
import { openAdd, openBox } from "./box.ts";
import { goByKey, isCurrent, PLACES, placesByKey, TOOLS } from "./navigation.ts";
import { href, place } from "./router.ts";
import { useAccount } from "./session.ts";

const GROUPS_AT_FIRST = 6;
const DRAGGED = "application/x-contacts-people"; // ids of people, one a line

export function Navigation() {
  useKeys([
    { key: "?", label: t("Show the keys"), act: () => (isHelpOpen.value = true) },
    { key: "/", label: t("Search people"), act: () => openBox({ peopleFirst: true }) },
    { key: "n", label: t("New person"), act: () => openAdd() },
    { key: "+", label: t("Add something"), act: () => openAdd() },
    { key: "l", label: t("Log a contact"), act: () => openAdd("", [], true) },
    { key: "g", label: t("Go to a place: {keys}", { keys: placesByKey() }), act: goByKey },
  ]);
  return (
    <nav class="app-nav no-print" aria-label={t("Main")}>
      {isDesk.value ? <Sidebar /> : <Places />}
    </nav>
  );
}

// How many people it is time to get in touch with.
function useDue(): number {
  const { people, peopleVersion, settings, meId } = useAccount();
  peopleVersion.value;
  const now = today(settings.value.timezone);
  return people.value.filter(({ id, contactDue, isQuiet }) => contactDue && contactDue <= now && !isQuiet && id !== meId).length;
}

function useUser() {
  const { settings } = useAccount();
  return { id: "user", name: settings.value.name || t("Account"), photo: settings.value.photo ?? null };
}

function Places() {
  const due = useDue();
  const user = useUser();
  const shown = isPhone.value ? PLACES.filter(({ path }) => ["/", "/people", "/dates"].includes(path)) : PLACES;
  const add = (
    <li key="add">
      <button class="nav-add" onClick={() => openAdd()} aria-label={t("Add")}>
        <Icon name="add" size={24} />
      </button>
    </li>
  );
  const links = shown.map(({ path, label, icon }) => (
    <li key={path}>
      <a href={href(path)} aria-current={isCurrent(path) ? "page" : undefined}>
        <Icon name={icon} size={22} />
        {t(label)}
        {path === "/" && due > 0 && <span class="badge">{formatNumber(due)}</span>}
      </a>
    </li>
  ));
  links.splice(isPhone.value ? 2 : 0, 0, add);
  const isElsewhere = !shown.some(({ path }) => isCurrent(path));
  return (
    <ul class="places">
      {links}
      <li>
        <a href={href("/more")} aria-current={isElsewhere ? "page" : undefined}>
          <Icon name="menu" size={22} />
          {t("More")}
        </a>
      </li>
      {!isPhone.value && (
        <li>
          <a href={href("/settings")} aria-label={t("Settings")}>
            <Avatar person={user} isUser />
          </a>
        </li>
      )}
    </ul>
  );
}

function Sidebar() {
  const { people } = useAccount();
  const due = useDue();
  const user = useUser();
  return (
    <>
      <div class="nav-head">
        <Brand path={href("/")} />
        <button class="main icon" onClick={() => openAdd()} aria-label={t("Add")} title={t("Add")}>
          <Icon name="add" />
        </button>
      </div>
      <button class="nav-search" onClick={() => openBox()}>
        <Icon name="search" size={18} />
        <span>{t("Search or do")}</span>
        <kbd>{t("Ctrl K")}</kbd>
      </button>
      <ul class="nav-list">
        {PLACES.map(({ path, label, icon }) => (
          <li key={path}>
            <NavLink path={path} icon={icon} label={t(label)}>
              {path === "/" && due > 0 && <span class="badge">{formatNumber(due)}</span>}
              {path === "/people" && people.value.length > 0 && <span class="badge quiet">{formatNumber(people.value.length)}</span>}
            </NavLink>
          </li>
        ))}
      </ul>
      <Groups />
      <Tools />
      <div class="nav-foot">
        <ul class="nav-list">
          <li>
            <a href={href("/settings")} aria-current={isCurrent("/settings") ? "page" : undefined}>
              <Avatar person={user} size="small" isUser />
              <bdi class="grow cut">{user.name}</bdi>
              <span class="hidden-text">{t("Settings")}</span>
              <Icon name="settings" />
            </a>
          </li>
        </ul>
        <SyncState />
      </div>
    </>
  );
}

interface LinkProps {
  path: string;
  icon: IconName;
  label: string;
  children?: preact.ComponentChildren;
}

function NavLink({ path, icon, label, children }: LinkProps) {
  return (
    <a href={href(path)} aria-current={isCurrent(path) ? "page" : undefined}>
      <Icon name={icon} />
      <span class="grow">{label}</span>
      {children}
    </a>
  );
}

// The groups with their numbers of people, the largest first. People who are dropped on one are added to it.
function Groups() {
  const account = useAccount();
  const [isWhole, setWhole] = useState(false);
  const [over, setOver] = useState<string | null>(null);
  account.peopleVersion.value;
  const sizes = groupSizes(account.people.value);
  const size = (id: string) => sizes.get(id) ?? 0;
  const groups = account.groups.all.sort((one, other) => size(other.id) - size(one.id) || one.name.localeCompare(other.name));
  const shown = isWhole ? groups : groups.slice(0, GROUPS_AT_FIRST);
  return (
    <>
      <div class="nav-heading">
        <a class="soft" href={href("/groups")}>{t("Groups")}</a>
        <a class="button plain icon" href={href("/groups?new")} aria-label={t("Add a group")} title={t("Add a group")}>
          <Icon name="add" size={18} />
        </a>
      </div>
      <ul class="nav-list">
        {shown.map(({ id, name, color }) => (
          <li key={id}>
            <a
              class={over === id ? "drop-target" : undefined}
              href={href(`/groups/${id}`)}
              aria-current={isCurrent(`/groups/${id}`) ? "page" : undefined}
              onDragOver={(event) => {
                if (!event.dataTransfer?.types.includes(DRAGGED)) return;
                event.preventDefault();
                setOver(id);
              }}
              onDragLeave={() => setOver(null)}
              onDrop={(event) => {
                event.preventDefault();
                setOver(null);
                void addToGroup(account, event.dataTransfer!.getData(DRAGGED).split("\n"), id);
              }}
            >
              <span class={`dot ${nearestHue(color)}`} />
              <bdi class="grow cut">{name}</bdi>
              <span class="badge quiet">{formatNumber(size(id))}</span>
            </a>
          </li>
        ))}
        {groups.length > GROUPS_AT_FIRST && (
          <li>
            <button onClick={() => setWhole(!isWhole)} aria-expanded={isWhole}>
              <Icon name="down" />
              {isWhole ? t("Fewer groups") : tn("{count} more group", "{count} more groups", groups.length - GROUPS_AT_FIRST)}
            </button>
          </li>
        )}
      </ul>
    </>
  );
}

// Starts a drag of people, who can be dropped on a group.
export function dragPeople(event: DragEvent, ids: readonly string[]): void {
  event.dataTransfer?.setData(DRAGGED, ids.join("\n"));
}

function Tools() {
  const isInside = TOOLS.some(({ path }) => isCurrent(path));
  const [isOpen, setOpen] = useState(isInside);
  useEffect(() => {
    if (isInside) setOpen(true);
  }, [place.value.path]);
  return (
    <details class="nav-fold" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {t("Tools")}
        <Icon name="down" size={14} />
      </summary>
      <ul class="nav-list">
        {TOOLS.map(({ path, label, icon }) => (
          <li key={path}>
            <NavLink path={path} icon={icon} label={t(label)} />
          </li>
        ))}
      </ul>
    </details>
  );
}

// What is not sent yet, in one calm line.
export function SyncState() {
  const { answers, pending, sync } = useAccount();
  const unsent = pending.value.length + answers.value.length;
  const isOffline = sync.value.phase === "offline";
  if (unsent === 0)
    return (
      <p class="nav-state">
        <Icon name={isOffline ? "cloud" : "check"} size={14} />
        {isOffline ? t("Offline") : t("All saved and sent")}
      </p>
    );
  return (
    <p class="nav-state">
      <Icon name="cloud" size={14} />
      <a href={href("/unsent")}>{tn("{count} change kept here", "{count} changes kept here", unsent)}</a>
    </p>
  );
}
