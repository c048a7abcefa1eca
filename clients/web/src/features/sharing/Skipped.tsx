// Whom the user did not want: they can come later all the same.
import { useEffect, useState } from "preact/hooks";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { giveWithUndo, readAnew, withoutAnswered } from "./answers.ts";
import { readWaiting } from "./review.ts";
import type { Share } from "./shares.ts";
import { useKept } from "./useKept.ts";

export function Skipped({ share }: { share: Share }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="share-skipped" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t("Who is not mine")}</summary>
      {isOpen && <List share={share} />}
    </details>
  );
}

function List({ share }: { share: Share }) {
  const account = useAccount();
  const [{ data, problem }, reload] = useKept(`skipped ${share.id}`, (signal) => readWaiting(share.id, signal, true));
  useEffect(() => void readAnew(reload), [share]);
  const rows = data && withoutAnswered(account, data, ({ sharedId }) => sharedId);
  if (!rows) return <p class="soft" aria-busy={!problem}>{problem?.text}</p>;
  if (rows.length === 0) return <p class="soft">{t("Nobody.")}</p>;
  return (
    <ul class="card flush lines share-members">
      {rows.map(({ sharedId, name, by }) => (
        <li key={sharedId} class="row">
          <Avatar person={{ id: sharedId, name, photo: null }} size="small" />
          <span class="grow">
            <bdi>{name}</bdi>
            <span class="soft small block">{t("of {by}", { by })}</span>
          </span>
          <button
            onClick={() =>
              void giveWithUndo(account, { path: `/api/shares/${share.id}/waiting`, body: { items: [{ sharedId, action: "create" }] }, about: [sharedId], text: t("{name} comes to your people.", { name }) })
            }
            aria-label={t("Take {name} in", { name })}
          >
            {t("Take in")}
          </button>
        </li>
      ))}
    </ul>
  );
}
