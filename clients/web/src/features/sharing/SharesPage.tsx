// All that is kept together with others, and who asks to.
import { href } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { formatNumber, t, tn } from "../../i18n/index.ts";
import { nearestHue } from "../../ui/hue.ts";
import { Empty } from "../../ui/Empty.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Page } from "../../ui/Page.tsx";
import { readInvitations } from "./invitations.ts";
import { namesOfOthers } from "./shares.ts";
import { useKept } from "./useKept.ts";
import "../groups/groups.css";
import "./sharing.css";

export default function SharesPage() {
  const { shares, groups } = useAccount();
  const [{ data: invitations }] = useKept("share invitations", (signal) => readInvitations(null, signal));
  const all = shares.all.sort((one, other) => one.name.localeCompare(other.name));
  return (
    <Page title={t("Shared with others")} back="/groups" width="form">
      {invitations && invitations.length > 0 && (
        <ul class="stack tight">
          {invitations.map(({ id, from, shareName }) => (
            <li key={id}>
              <a class="card share-decide" href={href("/invitation")}>
                <span class="tile kind-tie"><Icon name="mail" size={18} /></span>
                <span class="grow">{t("{from} wants to keep “{share}” together with you", { from, share: shareName })}</span>
                <Icon name="next" size={18} />
              </a>
            </li>
          ))}
        </ul>
      )}
      {all.length === 0 && (
        <Empty kind="tie" title={t("Nothing is shared yet")}>
          <p>{t("Open a group, such as your family, and share it with somebody who knows these people, too.")}</p>
          <p class="row"><a class="button" href={href("/groups")}>{t("Groups")}</a></p>
        </Empty>
      )}
      <ul class="stack tight">
        {all.map((share) => (
          <li key={share.id}>
            <a class="card group-card" href={href(`/shares/${share.id}`)}>
              <span class={`dot ${nearestHue(groups.byId.value.get(share.groupId ?? "")?.color)}`} />
              <span class="grow">
                <strong><bdi>{share.name}</bdi></strong>
                <span class="soft small block">{[namesOfOthers(share) ?? t("nobody else yet"), tn("{count} person", "{count} people", share.peopleCount), share.state === "paused" && t("rests")].filter(Boolean).join(" · ")}</span>
              </span>
              {share.waitingCount + share.conflictCount > 0 && <span class="badge" aria-label={t("To decide")}>{formatNumber(share.waitingCount + share.conflictCount)}</span>}
            </a>
          </li>
        ))}
      </ul>
    </Page>
  );
}
