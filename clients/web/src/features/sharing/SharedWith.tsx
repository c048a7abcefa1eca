// At the head of a person: with whom the person is shared, and how that stands. Without a network it is what the copy knows.
import type { components } from "contacts-client";
import { useEffect } from "preact/hooks";
import { href } from "../../app/router.ts";
import { connection, useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { useRemote } from "../../store/remote.ts";
import { useAll } from "../../store/records.ts";
import { Icon, type IconName } from "../../ui/Icon.tsx";
import { namesOfOthers, type Share, sharesOf } from "./shares.ts";

type State = NonNullable<components["schemas"]["Person"]["shares"]>[number]["state"];

export function SharedWith({ person }: { person: { id: string; groupIds: string[] } }) {
  const shares = sharesOf(useAccount(), person);
  return shares.length ? <Shares person={person} shares={shares} /> : null;
}

function Shares({ person, shares }: { person: { id: string }; shares: Share[] }) {
  const conflicts = useAll("shareConflict").value;
  const [found, reload] = useRemote(`shares of ${person.id}`, async (signal) => {
    const { data } = await connection.api.GET("/api/people/{personId}", { params: { path: { personId: person.id } }, signal });
    return data?.person.shares ?? [];
  });
  useEffect(() => void (found.peek().data && reload()), [shares.map(({ updatedAt, waitingCount }) => `${updatedAt} ${waitingCount}`).join()]);
  const stateOf = ({ id }: Share): State => {
    if (conflicts?.some(({ shareId, personId }) => shareId === id && personId === person.id)) return "conflict";
    const known = found.value.data?.find(({ shareId }) => shareId === id)?.state;
    return known === "waiting" ? "waiting" : "synced";
  };
  return (
    <ul class="row groups">
      {shares.map((share) => {
        const { path, icon, text } = shown(share, stateOf(share));
        return (
          <li key={share.id}>
            <a class="chip" href={href(path)}>
              <Icon name={icon} size={14} />
              <bdi>{text}</bdi>
            </a>
          </li>
        );
      })}
    </ul>
  );
}

function shown(share: Share, state: State): { path: string; icon: IconName; text: string } {
  const { id, name } = share;
  if (state === "conflict") return { path: `/shares/${id}/review`, icon: "warning", text: t("Changed in two places") };
  if (state === "waiting") return { path: `/shares/${id}/review`, icon: "clock", text: t("Waits for an answer in “{name}”", { name }) };
  const names = namesOfOthers(share);
  return { path: `/shares/${id}`, icon: "share", text: names ? t("Shared with {names}", { names }) : t("Shared, and nobody else takes part yet") };
}
