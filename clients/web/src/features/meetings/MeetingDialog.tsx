// Who was there, and what it was, before a meeting is logged. People who are not here yet are made with it.
import { useState } from "preact/hooks";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { Dialog } from "../../ui/Dialog.tsx";
import { Check, SelectField } from "../../ui/Field.tsx";
import { createNewPeople } from "../people/newPeople.ts";
import { PersonPicker } from "../people/PersonPicker.tsx";
import { type Kind, kindLabel, KINDS } from "../person/interactions.ts";
import { logMeetings } from "./answer.ts";
import { type Meeting, nameOfMeeting } from "./proposals.ts";

export function MeetingDialog({ meeting, guests, onClose }: { meeting: Meeting; guests: readonly string[]; onClose: () => void }) {
  const account = useAccount();
  const known = meeting.people.map(({ id }) => id);
  const [ids, setIds] = useState(known);
  const [added, setAdded] = useState<readonly string[]>(guests);
  const [kind, setKind] = useState<Kind>("MEETING");
  const log = async () => {
    if (ids.length + added.length === 0) return;
    onClose();
    const isChanged = ids.join() !== known.join();
    const personIds = isChanged ? await createNewPeople(account, ids) : null;
    await logMeetings(account, [meeting], { kind, ...(personIds && { personIds }), ...(added.length && { createPeople: [...added] }) });
  };
  return (
    <Dialog
      title={nameOfMeeting(meeting)}
      onClose={onClose}
      onSubmit={() => void log()}
      footer={
        <>
          <button type="button" onClick={onClose}>{t("Cancel")}</button>
          <button class="main" disabled={ids.length + added.length === 0}>{t("Log it")}</button>
        </>
      }
    >
      <PersonPicker label={t("Who was there")} ids={ids} onIds={setIds} withNew />
      {meeting.proposal.unknown.length > 0 && (
        <fieldset class="meeting-guests">
          <legend>{t("Guests who are not here yet")}</legend>
          {meeting.proposal.unknown.map(({ email, name }) => (
            <Check
              key={email}
              label={<><bdi>{name ?? email}</bdi>{name && <span class="soft small block">{email}</span>}</>}
              isChecked={added.includes(email)}
              onChange={(isOn) => setAdded(isOn ? [...added, email] : added.filter((each) => each !== email))}
            />
          ))}
          <p class="soft small">{t("Those you tick become people, with name and mail address.")}</p>
        </fieldset>
      )}
      <SelectField label={t("Kind")} value={kind} options={KINDS.map((each) => [each.kind, kindLabel(each.kind)])} onValue={(value) => setKind(value as Kind)} />
    </Dialog>
  );
}
