// Leaving: what stays is said before. Two taps, of which this is the second.
import { useState } from "preact/hooks";
import { navigate } from "../../app/router.ts";
import { connection, useAccount } from "../../app/session.ts";
import { t, tn } from "../../i18n/index.ts";
import { Dialog } from "../../ui/Dialog.tsx";
import { Check } from "../../ui/Field.tsx";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { toast } from "../../ui/toast.tsx";
import { isHost, namesOfOthers, othersOf, type Share } from "./shares.ts";

export function LeaveDialog({ share, onClose }: { share: Share; onClose: () => void }) {
  const account = useAccount();
  const [withTrash, setWithTrash] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const { id, name, groupId } = share;
  const names = namesOfOthers(share);
  const next = othersOf(share).toSorted((one, other) => (one.joinedAt < other.joinedAt ? -1 : 1))[0];
  const leave = async () => {
    if (isBusy) return;
    setBusy(true);
    try {
      const { kept, trashed } = await connection.ask("DELETE", `/api/shares/${id}/membership`, withTrash ? { people: "trash" } : {});
      account.syncer.syncNow();
      onClose();
      navigate(groupId && account.groups.byId.value.has(groupId) ? `/groups/${groupId}` : "/shares");
      toast([t("You have left “{name}”.", { name }), tn("{count} person stays with you.", "{count} people stay with you.", kept), trashed > 0 && tn("{count} is in the trash.", "{count} are in the trash.", trashed)].filter(Boolean).join(" "));
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={t("Leave “{name}”?", { name })}
      onClose={onClose}
      onSubmit={() => void leave()}
      footer={
        <>
          <button type="button" onClick={onClose}>{t("Cancel")}</button>
          <button class="danger" disabled={isBusy}>{t("Leave")}</button>
        </>
      }
    >
      <ul class="share-points">
        <li>{t("All people stay with you, with everything that is known of them.")}</li>
        {names && <li>{tn("{names} keeps theirs, too.", "{names} keep theirs, too.", othersOf(share).length, { names })}</li>}
        <li>{names ? t("From then on, nothing new comes, and nothing of yours goes out.") : t("Nobody else takes part, so it ends.")}</li>
        {isHost(share) && next && <li>{t("{name} will be the one who invites.", { name: next.name })}</li>}
      </ul>
      <Check label={t("Put those into the trash who came from the others and whom you have never changed")} isChecked={withTrash} onChange={setWithTrash} />
      <ProblemNote problem={problem} />
    </Dialog>
  );
}
