// Answers to proposed meetings: logged or not, each with an undo. They wait in the copy without a network.
import type { AcceptOptions, DismissOptions } from "contacts-client";
import { t, tn } from "../../i18n/index.ts";
import type { Account } from "../../store/account.ts";
import { messageMilliseconds, toast } from "../../ui/toast.tsx";
import { type Meeting, nameOfMeeting } from "./proposals.ts";

const MARGIN_MILLISECONDS = 1_000; // an undo that is pressed last still comes in time

// Logs them. The options are for one alone.
export async function logMeetings(account: Account, meetings: readonly Meeting[], options: AcceptOptions = {}): Promise<void> {
  const guests = new Set(options.createPeople);
  const known = new Set(peopleWith(account, guests));
  const ids = meetings.map(({ proposal }) => proposal.id);
  await account.copy.accept(ids, options);
  const text = meetings.length === 1 ? t("Logged: {what}", { what: nameOfMeeting(meetings[0]!) }) : tn("{count} meeting was logged.", "{count} meetings were logged.", meetings.length);
  toast(text, async () => {
    const outcomes = await takeBack(account, ids);
    for (const id of peopleWith(account, guests)) if (!known.has(id)) await account.copy.delete("person", id);
    if (outcomes.includes("deleted")) toast(t("It is not logged any more, and not asked again."));
  });
}

function peopleWith(account: Account, emails: ReadonlySet<string>): string[] {
  const found = emails.size ? account.people.value.filter(({ email }) => email !== null && emails.has(email)) : [];
  return found.map(({ id }) => id);
}

// Logs none of them. The service remembers that for good, so it is told once there is no undo any more.
export async function dismissMeeting(account: Account, meeting: Meeting, options: DismissOptions = {}): Promise<void> {
  const { id } = meeting.proposal;
  await account.copy.dismiss([id], options, Date.now() + messageMilliseconds() + MARGIN_MILLISECONDS);
  const what = nameOfMeeting(meeting);
  const text = options.always === "series" ? t("This series is not asked about again: {what}", { what }) : options.always ? t("Nothing called “{what}” is asked about again.", { what }) : t("Not logged: {what}", { what });
  toast(text, async () => {
    if ((await takeBack(account, [id])).includes("sent")) toast(t("That is sent already."));
  });
}

function takeBack(account: Account, ids: readonly string[]): Promise<("open" | "deleted" | "sent")[]> {
  return Promise.all(ids.map((id) => account.copy.takeBack(id)));
}
