// All groups, with how many people are in each.
import { useMemo } from "preact/hooks";
import { href, navigate } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { t, tn } from "../../i18n/index.ts";
import { TextField } from "../../ui/Field.tsx";
import { useForm } from "../../ui/form.ts";
import { nearestHue } from "../../ui/hue.ts";
import { Page } from "../../ui/Page.tsx";
import "./groups.css";

export default function GroupsPage() {
  const account = useAccount();
  const people = account.people.value;
  const counts = useMemo(() => countMembers(people), [people, account.peopleVersion.value]);
  const groups = account.groups.all.sort((one, other) => one.name.localeCompare(other.name));
  return (
    <Page title={t("Groups")} actions={<a class="button" href={href("/shares")}>{t("Shared with others")}</a>}>
      <NewGroup names={groups.map(({ name }) => name)} />
      {groups.length === 0 && <p class="card">{t("There is no group yet. A group can be a family, a team, a choir, everybody who gets a card.")}</p>}
      <ul class="group-cards">
        {groups.map(({ id, name, description, color }) => (
          <li key={id}>
            <a class="card group-card" href={href(`/groups/${id}`)}>
              <span class={`dot ${nearestHue(color)}`} />
              <span>
                <strong>
                  <bdi>{name}</bdi>
                </strong>
                <span class="soft small block">{tn("{count} person", "{count} people", counts.get(id) ?? 0)}</span>
                {description && <span class="small block">{description}</span>}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </Page>
  );
}

function countMembers(people: readonly { groupIds: string[] }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { groupIds } of people) for (const id of groupIds) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

function NewGroup({ names }: { names: string[] }) {
  const { copy, id: accountId } = useAccount();
  const form = useForm(`${accountId} new group`, () => ({ name: "" }));
  const name = form.values.value.name.trim();
  const isTaken = names.some((known) => known.toLowerCase() === name.toLowerCase());
  const add = async (event: Event) => {
    event.preventDefault();
    if (!name || isTaken) return;
    const id = await copy.create("group", { name });
    form.end();
    navigate(`/groups/${id}`);
  };
  return (
    <form class="row group-new" onSubmit={add}>
      <TextField label={t("New group")} value={form.values.value.name} maxLength={100} enterkeyhint="done" onValue={(value) => form.set("name", value)} error={isTaken ? t("There is a group of this name.") : undefined} />
      <button class="main" disabled={!name || isTaken}>
        {t("Add")}
      </button>
    </form>
  );
}
