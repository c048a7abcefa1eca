// On the page of a group: with whom it is shared, and what is to decide.
import { href } from "../../app/router.ts";
import { t } from "../../i18n/index.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { namesOfOthers, othersOf, type Share } from "./shares.ts";
import { ToDecide } from "./SharePage.tsx";
import "./sharing.css";

export function SharedGroup({ share }: { share: Share }) {
  const names = namesOfOthers(share);
  return (
    <div class="stack tight no-print">
      <a class="share-strip" href={href(`/shares/${share.id}`)}>
        <span class="pile">{othersOf(share).map(({ id, name }) => <Avatar key={id} person={{ id, name, photo: null }} size="small" />)}</span>
        <span class="grow">{names ? t("Shared with {names}", { names }) : t("Shared, and nobody else takes part yet")}</span>
        <Icon name="next" size={16} />
      </a>
      <ToDecide share={share} />
    </div>
  );
}
