// A choice of several groups. One that is in the trash stays chosen, since it counts again when it is restored.
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { Check } from "../../ui/Field.tsx";
import { nearestHue } from "../../ui/hue.ts";
import "./groups.css";

interface Props {
  legend: string;
  ids: readonly string[];
  onIds: (ids: string[]) => void;
}

export function GroupChoice({ legend, ids, onIds }: Props) {
  const { groups } = useAccount();
  const known = groups.all.sort((one, other) => one.name.localeCompare(other.name));
  const gone = ids.filter((id) => !groups.byId.value.has(id));
  const choose = (id: string, isChosen: boolean) => onIds(isChosen ? [...ids, id] : ids.filter((each) => each !== id));
  return (
    <fieldset class="group-choice">
      <legend>{legend}</legend>
      {known.length + gone.length === 0 && <p class="soft small">{t("There is no group yet.")}</p>}
      <ul>
        {known.map(({ id, name, color }) => (
          <li key={id}>
            <Check
              label={
                <>
                  <span class={`dot ${nearestHue(color)}`} /> <bdi>{name}</bdi>
                </>
              }
              isChecked={ids.includes(id)}
              onChange={(isChosen) => choose(id, isChosen)}
            />
          </li>
        ))}
        {gone.map((id) => (
          <li key={id}>
            <Check label={t("A group in the trash")} isChecked onChange={() => choose(id, false)} />
          </li>
        ))}
      </ul>
    </fieldset>
  );
}
