// What is decided once for all who come in.
import { useAccount } from "../../app/session.ts";
import { t, tn } from "../../i18n/index.ts";
import { useId } from "preact/hooks";

interface Props {
  birthdays: number;
  isReminding: boolean;
  onReminding: (isReminding: boolean) => void;
  groupId: string;
  onGroup: (id: string) => void;
}

export function Choices({ birthdays, isReminding, onReminding, groupId, onGroup }: Props) {
  const groups = useAccount().groups.all.sort((one, other) => one.name.localeCompare(other.name));
  const id = useId();
  return (
    <div class="card flush lines choices">
      <label class="choice-line">
        <span class="grow">
          <strong>{tn("{count} birthday: remind me on the day", "{count} birthdays: remind me on the day", birthdays)}</strong>
          <span class="soft small block">{t("As of a birthday that you write here yourself. Each can be changed later.")}</span>
        </span>
        <input type="checkbox" role="switch" class="switch" checked={isReminding} onChange={({ currentTarget }) => onReminding(currentTarget.checked)} />
      </label>
      <div class="choice-line">
        <label class="grow" for={id}>
          <strong>{t("Put them into a group")}</strong>
          <span class="soft small block">{t("Groups that the file names come with it.")}</span>
        </label>
        <select id={id} value={groupId} onChange={({ currentTarget }) => onGroup(currentTarget.value)}>
          <option value="">{t("as in the file")}</option>
          {groups.map((group) => <option key={group.id} value={group.id}>{group.name}</option>)}
        </select>
      </div>
    </div>
  );
}
