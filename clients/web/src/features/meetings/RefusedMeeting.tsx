// A meeting that was to be logged, and that its calendar does not have any more, or that the service refuses otherwise.
import type { Edit } from "contacts-client";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { describeEdit } from "../sync/describe.ts";
import type { Proposal } from "./proposals.ts";

export function RefusedMeeting({ edit }: { edit: Edit }) {
  const account = useAccount();
  const { copy } = account;
  const { at, title, people } = edit.base as unknown as Proposal;
  const problem = edit.problem as { error?: string; details?: { field: string }[] } | null;
  const isGone = problem?.details?.some(({ field }) => field.startsWith("ids")) ?? false;
  const present = ((edit.body["personIds"] as string[] | undefined) ?? people.map(({ id }) => id)).filter((id) => account.person(id));
  const logAnyway = async () => {
    await copy.create("interaction", { personIds: present, kind: "MEETING", at, ...(title && { title }) });
    await copy.discard(edit);
  };
  return (
    <section class="card stack tight">
      <h2>{describeEdit(account, edit)}</h2>
      <p class="banner danger">{isGone ? t("Its calendar does not have this meeting any more, so it was not logged.") : (problem?.error ?? t("The service did not take it."))}</p>
      <div class="row">
        {isGone ? present.length > 0 && <button onClick={() => void logAnyway()}>{t("Log it all the same")}</button> : <button onClick={() => void copy.amend(edit, {})}>{t("Send again")}</button>}
        <button class="danger" onClick={() => void copy.discard(edit)}>{isGone ? t("Leave it") : t("Discard the change")}</button>
      </div>
    </section>
  );
}
