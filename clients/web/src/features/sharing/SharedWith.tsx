// At the head of a person: with whom the person is shared, and how that stands.
import { href } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { useAll } from "../../store/records.ts";
import { Icon } from "../../ui/Icon.tsx";
import { namesOfOthers, sharesOf } from "./shares.ts";

export function SharedWith({ person }: { person: { id: string; groupIds: string[] } }) {
  const account = useAccount();
  const shares = sharesOf(account, person);
  const conflicts = useAll("shareConflict", shares.length > 0).value;
  if (shares.length === 0) return null;
  const isDiffering = conflicts?.some(({ personId }) => personId === person.id);
  return (
    <ul class="row groups">
      {shares.map((share) => {
        const names = namesOfOthers(share);
        return (
          <li key={share.id}>
            <a class="chip" href={href(isDiffering ? `/shares/${share.id}/review` : `/shares/${share.id}`)}>
              <Icon name={isDiffering ? "warning" : "share"} size={14} />
              <bdi>{isDiffering ? t("Changed in two places") : names ? t("Shared with {names}", { names }) : t("Shared, and nobody else takes part yet")}</bdi>
            </a>
          </li>
        );
      })}
    </ul>
  );
}
