// On a phone and a tablet: what does not stand in the bar.
import { PLACES, TOOLS } from "../../app/navigation.ts";
import { SyncState } from "../../app/Navigation.tsx";
import { href } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { formatNumber, t } from "../../i18n/index.ts";
import { groupSizes } from "../../store/people.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { nearestHue } from "../../ui/hue.ts";
import { Icon, type IconName } from "../../ui/Icon.tsx";
import { Page } from "../../ui/Page.tsx";
import "./more.css";

export default function MorePage() {
  const { groups, people, settings } = useAccount();
  const sizes = groupSizes(people.value);
  const name = settings.value.name || t("Account");
  return (
    <Page
      title={name}
      width="form"
      heading={
        <span class="more-user">
          <Avatar person={{ id: "user", name, photo: settings.value.photo ?? null }} size="medium" isUser />
          <bdi>{name}</bdi>
        </span>
      }
      actions={
        <a class="button plain icon" href={href("/settings")} aria-label={t("Settings")}>
          <Icon name="settings" size={22} />
        </a>
      }
    >
      <SyncState />
      <ul class="stack tight">
        {PLACES.filter(({ path }) => path === "/network" || path === "/map").map(({ path, label, icon }) => (
          <li key={path} class="card flush">
            <Line path={path} icon={icon} kind={path === "/map" ? "place" : "tie"} label={t(label)} />
          </li>
        ))}
      </ul>
      <section class="section">
        <header>
          <h2>{t("Groups")}</h2>
          <a class="button plain icon" href={href("/groups?new")} aria-label={t("Add a group")}>
            <Icon name="add" />
          </a>
        </header>
        <ul class="card flush lines more-lines">
          {groups.all
            .sort((one, other) => one.name.localeCompare(other.name))
            .map(({ id, name: group, color }) => (
              <li key={id}>
                <a class="more-line" href={href(`/groups/${id}`)}>
                  <span class={`dot ${nearestHue(color)}`} />
                  <bdi class="grow">{group}</bdi>
                  <span class="soft small">{formatNumber(sizes.get(id) ?? 0)}</span>
                  <Icon name="next" size={16} />
                </a>
              </li>
            ))}
          <li>
            <a class="more-line" href={href("/groups")}>
              <span class="grow">{t("All groups")}</span>
              <Icon name="next" size={16} />
            </a>
          </li>
          <li>
            <a class="more-line" href={href("/shares")}>
              <span class="grow">{t("Shared with others")}</span>
              <Icon name="next" size={16} />
            </a>
          </li>
        </ul>
      </section>
      <section class="section">
        <header>
          <h2>{t("Tools")}</h2>
        </header>
        <ul class="card flush lines more-lines">
          {TOOLS.map(({ path, label, icon }) => (
            <li key={path}>
              <Line path={path} icon={icon} kind="tie" label={t(label)} />
            </li>
          ))}
          <li>
            <Line path="/unsent" icon="cloud" kind="accent" label={t("Sent and not sent")} />
          </li>
        </ul>
      </section>
    </Page>
  );
}

function Line({ path, icon, kind, label }: { path: string; icon: IconName; kind: string; label: string }) {
  return (
    <a class="more-line" href={href(path)}>
      <span class={`tile kind-${kind}`}>
        <Icon name={icon} size={18} />
      </span>
      <span class="grow">{label}</span>
      <Icon name="next" size={16} />
    </a>
  );
}
