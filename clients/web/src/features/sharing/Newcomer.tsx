// Somebody of the share beside those of the user who may be the same: the same person, a new one, or not mine.
import { useState } from "preact/hooks";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { PersonPicker } from "../people/PersonPicker.tsx";
import { type Choice, isSame, type Waiting } from "./review.ts";

interface Props {
  row: Waiting;
  choice: Choice | null;
  onChoice: (choice: Choice) => void;
}

interface Face {
  id: string;
  name: string;
  photo: string | null;
}

export function Newcomer({ row, choice, onChoice }: Props) {
  const account = useAccount();
  const [isPicking, setPicking] = useState(false);
  const { sharedId, name, by } = row;
  const known = new Map<string, string>((row.candidates ?? []).map((each) => [each.personId, each.personName ?? ""]));
  if (row.personId) known.set(row.personId, name);
  if (choice?.action === "link" && !known.has(choice.personId)) known.set(choice.personId, name);
  const faces: Face[] = [...known].map(([id, other]) => account.person(id) ?? { id, name: other, photo: null });
  const options: { choice: Choice; label: string; hint: string; face?: Face }[] = [
    ...faces.map((face) => ({ choice: { action: "link", personId: face.id } as const, label: face.name, hint: t("the same person"), face })),
    { choice: { action: "create" }, label: t("A new person"), hint: t("comes to your people") },
    { choice: { action: "skip" }, label: t("Not mine"), hint: t("stays with the others") },
  ];
  return (
    <li class="card share-newcomer" data-row tabIndex={-1} aria-label={name}>
      <div class="share-theirs">
        <Avatar person={{ id: sharedId, name, photo: null }} size="medium" />
        <span class="share-name">
          <strong><bdi>{name}</bdi></strong>
          <span class="soft small block">{t("of {by}", { by })}</span>
        </span>
      </div>
      <div class="share-options" role="group" aria-label={t("Who {name} is", { name })}>
        {options.map((option, index) => (
          <button key={index} type="button" class="choice-tile share-option" data-key={index < 4 ? String(index + 1) : undefined} aria-pressed={isSame(choice, option.choice)} onClick={() => onChoice(option.choice)}>
            {option.face ? (
              <Avatar person={option.face} size="small" />
            ) : (
              <span class="share-blank">
                <Icon name={option.choice.action === "create" ? "add" : "close"} size={16} />
              </span>
            )}
            <span class="share-name">
              <bdi>{option.label}</bdi>
              <span class="soft small block">{option.hint}</span>
            </span>
          </button>
        ))}
        <button type="button" class="plain share-other" onClick={() => setPicking(true)} aria-label={t("{name} is somebody else of yours", { name })}>
          {t("Somebody else")} …
        </button>
      </div>
      {isPicking && (
        <Dialog title={t("Who is {name}?", { name })} onClose={() => setPicking(false)}>
          <PersonPicker
            label={t("One of your people")}
            ids={[]}
            autoFocus
            onIds={([personId]) => {
              if (personId) onChoice({ action: "link", personId });
              setPicking(false);
            }}
          />
        </Dialog>
      )}
    </li>
  );
}
