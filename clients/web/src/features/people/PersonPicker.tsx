// Chooses people by typing: suggestions come from memory. Who is not there yet is a name until the form is saved
// (createNewPeople), and stands apart, so that nobody is made by a slip.
import { useId, useState } from "preact/hooks";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { fold } from "../../store/fold.ts";
import { search } from "../../store/people.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { isComposing } from "../../ui/keyboard.ts";
import { nameOfPicked, newPerson } from "./newPeople.ts";
import "./people.css";

interface Props {
  label: string;
  ids: string[];
  onIds: (ids: string[]) => void;
  excluded?: string[];
  autoFocus?: boolean;
  withGroups?: boolean; // a group stands for its people
  withNew?: boolean; // the form makes new people
}

const MAX_SHOWN = 8;

export function PersonPicker({ label, ids, onIds, excluded = [], autoFocus = false, withGroups = false, withNew = false }: Props) {
  const account = useAccount();
  const id = useId();
  const [words, setWords] = useState("");
  const [moved, setMoved] = useState<number | null>(null); // by the arrows: the first arrow stays at the first suggestion
  const left = words.trim() ? search(account.people.value, words).filter((row) => !ids.includes(row.id) && !excluded.includes(row.id)) : [];
  const shown = left.slice(0, MAX_SHOWN);
  const choose = (chosen: string) => {
    onIds([...ids, chosen]);
    setWords("");
    setMoved(null);
  };
  const create = () => choose(newPerson(words));
  const folded = fold(words);
  const groups = withGroups && folded ? account.groups.all.filter(({ name }) => fold(name).includes(folded)).slice(0, 3) : [];
  const chooseGroup = (groupId: string) => {
    const members = account.people.value.filter(({ groupIds }) => groupIds.includes(groupId)).map(({ id: member }) => member);
    onIds([...new Set([...ids, ...members])]);
    setWords("");
    setMoved(null);
  };
  // People first, then groups, then a new person.
  const acts = [...shown.map((row) => () => choose(row.id)), ...groups.map((group) => () => chooseGroup(group.id)), ...(withNew ? [create] : [])];
  const options = words.trim() ? acts.length : 0;
  const at = moved ?? 0;
  const move = (step: number) => setMoved(moved === null && step > 0 ? 0 : (at + options + step) % options);
  return (
    <div class="field picker">
      <label for={id}>{label}</label>
      {ids.length > 0 && (
        <ul class="row">
          {ids.map((each) => {
            const name = nameOfPicked(account, each) ?? "…";
            return (
              <li key={each} class="chip">
                <bdi>{name}</bdi>
                <button type="button" class="plain" onClick={() => onIds(ids.filter((other) => other !== each))} aria-label={t("Remove {name}", { name })}>
                  <Icon name="close" size={14} />
                </button>
              </li>
            );
          })}
        </ul>
      )}
      <input
        id={id}
        value={words}
        autoFocus={autoFocus}
        autocomplete="off"
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={options > 0}
        aria-controls={`${id}-list`}
        aria-activedescendant={options > 0 ? `${id}-${at}` : undefined}
        onInput={({ currentTarget }) => {
          setWords(currentTarget.value);
          setMoved(null);
        }}
        onKeyDown={(event) => {
          if (isComposing(event)) return;
          if (event.key === "ArrowDown" && options) move(1);
          else if (event.key === "ArrowUp" && options) move(-1);
          else if (event.key === "Enter" && options) acts[at]!();
          else if (event.key === "Backspace" && !words && ids.length) onIds(ids.slice(0, -1));
          else return;
          event.preventDefault();
        }}
      />
      <ul id={`${id}-list`} role="listbox" aria-label={label} class="picker-list" hidden={options === 0}>
        {shown.map((row, index) => (
          <li key={row.id} id={`${id}-${index}`} role="option" aria-selected={index === at} onPointerDown={(event) => event.preventDefault()} onClick={() => choose(row.id)}>
            <Avatar person={row} />
            <bdi>{row.name}</bdi>
          </li>
        ))}
        {groups.map(({ id: groupId, name, color }, index) => (
          <li key={groupId} id={`${id}-${shown.length + index}`} role="option" aria-selected={at === shown.length + index} onPointerDown={(event) => event.preventDefault()} onClick={() => chooseGroup(groupId)}>
            <span class="dot" style={{ background: color }} />
            {t("Everybody in {group}", { group: name })}
          </li>
        ))}
        {options > 0 && withNew && (
          <li class="picker-new" id={`${id}-${options - 1}`} role="option" aria-selected={at === options - 1} onPointerDown={(event) => event.preventDefault()} onClick={create}>
            <Icon name="add" />
            {t("New person: {name}", { name: words.trim() })}
          </li>
        )}
      </ul>
    </div>
  );
}
