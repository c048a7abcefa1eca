// Two people who were chosen: the same question as of a likely duplicate.
import { goBack, navigate, place } from "../../app/router.ts";
import { t } from "../../i18n/index.ts";
import { Page } from "../../ui/Page.tsx";
import { Decision } from "./Decision.tsx";
import "./cleanup.css";

export default function ComparePage() {
  const { query } = place.value;
  const leave = () => goBack("/duplicates");
  return (
    <Page title={t("Is this one person?")} back="/duplicates">
      <Decision
        ids={[query.get("one") ?? "", query.get("other") ?? ""]}
        onJoined={(_gone, { id }) => navigate(`/people/${id}`, { replace: true })}
        onTwo={leave}
        onLater={leave}
        onUndone={() => undefined}
      />
    </Page>
  );
}
