import { href } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { useState } from "preact/hooks";
import { t } from "../../i18n/index.ts";
import { Check, TextField } from "../../ui/Field.tsx";
import { nearestHue } from "../../ui/hue.ts";

export function GroupsSection({ groupIds }: { groupIds: string[] }) {
  const { groups } = useAccount();
  return (
    <ul class="row groups">
      {groupIds.map((id) => {
        const group = groups.byId.value.get(id);
        return (
          group && (
            <li key={id}>
              <a class="chip" href={href(`/groups/${id}`)}>
                <span class={`dot ${nearestHue(group.color)}`} />
                <bdi>{group.name}</bdi>
              </a>
            </li>
          )
        );
      })}
    </ul>
  );
}

export function GroupsForm({ groupIds, onGroups }: { groupIds: string[]; onGroups: (ids: string[]) => void }) {
  const { groups, copy } = useAccount();
  const [name, setName] = useState("");
  const sorted = groups.all.sort((one, other) => one.name.localeCompare(other.name));
  const add = async () => {
    const wanted = name.trim();
    if (!wanted) return;
    const known = sorted.find((group) => group.name.toLowerCase() === wanted.toLowerCase());
    const id = known?.id ?? (await copy.create("group", { name: wanted }));
    setName("");
    if (!groupIds.includes(id)) onGroups([...groupIds, id]);
  };
  return (
    <>
      <div class="checks">
        {sorted.map(({ id, name: label }) => (
          <Check key={id} label={<bdi>{label}</bdi>} isChecked={groupIds.includes(id)} onChange={(isIn) => onGroups(isIn ? [...groupIds, id] : groupIds.filter((each) => each !== id))} />
        ))}
      </div>
      <div class="row end">
        <TextField label={t("New group")} value={name} maxLength={100} onValue={setName} />
        <button type="button" onClick={() => void add()} disabled={!name.trim()}>
          {t("Add")}
        </button>
      </div>
    </>
  );
}
