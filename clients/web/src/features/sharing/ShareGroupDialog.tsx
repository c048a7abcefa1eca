// Sharing a group: what it means, whom to invite, and what stays with the user.
import { newId } from "contacts-client";
import { useState } from "preact/hooks";
import { navigate } from "../../app/router.ts";
import { connection, useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { Dialog } from "../../ui/Dialog.tsx";
import { TextField } from "../../ui/Field.tsx";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { toast } from "../../ui/toast.tsx";
import type { Group } from "../groups/GroupForm.tsx";
import { invite } from "./Members.tsx";
import { type OwnSide, OwnSideFields } from "./OwnSideFields.tsx";
import { DEFAULT_PRIVATE } from "./shares.ts";

export function ShareGroupDialog({ group, onClose }: { group: Group; onClose: () => void }) {
  const { syncer, sync } = useAccount();
  const [id] = useState(newId); // a second attempt makes no second share
  const [email, setEmail] = useState("");
  const [own, setOwn] = useState<OwnSide>({ private: DEFAULT_PRIVATE, reminders: "none" });
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const isOffline = sync.value.phase === "offline";
  const share = async () => {
    if (isBusy || isOffline) return;
    setBusy(true);
    setProblem(null);
    try {
      await connection.ask("POST", "/api/shares", { id, name: group.name, groupId: group.id, ...own });
    } catch (error) {
      setProblem(problemOf(error));
      return setBusy(false);
    }
    syncer.syncNow();
    if (email.trim()) await invite(id, email).catch((error: unknown) => toast(problemOf(error).text));
    onClose();
    navigate(`/shares/${id}`);
  };
  return (
    <Dialog
      title={t("Share “{name}”", { name: group.name })}
      onClose={onClose}
      keepsOpen={email !== ""}
      onSubmit={() => void share()}
      footer={
        <>
          <button type="button" onClick={onClose}>{t("Cancel")}</button>
          <button class="main" disabled={isBusy || isOffline}>{t("Share")}</button>
        </>
      }
    >
      {isOffline && <p class="banner warning">{t("This needs a network.")}</p>}
      <ul class="share-points">
        <li>{t("Each of you has these people in your own account. A new number that one of you writes is with the others at once.")}</li>
        <li>{t("Who deletes somebody deletes nobody elsewhere: the others are asked.")}</li>
        <li>{t("Whoever leaves keeps everyone.")}</li>
      </ul>
      <TextField label={t("Mail address of whom you invite")} hint={t("You can invite others later, up to seven.")} type="email" inputMode="email" autocomplete="off" value={email} onValue={setEmail} />
      <OwnSideFields value={own} onValue={setOwn} />
      <ProblemNote problem={problem} />
    </Dialog>
  );
}
