// The meetings that calendars propose to log, with their people as they are now.
import type { Records } from "contacts-client";
import { useMemo } from "preact/hooks";
import { useAccount } from "../../app/session.ts";
import { clockInWords, type Day, dayOf, wallTime } from "../../i18n/days.ts";
import { formatList, t, tn } from "../../i18n/index.ts";
import type { Account } from "../../store/account.ts";
import type { PersonRow } from "../../store/people.ts";
import { useAll } from "../../store/records.ts";

export type Proposal = Records["meetingProposal"];

export interface Meeting {
  proposal: Proposal;
  people: PersonRow[];
  day: Day;
}

export interface MeetingDay {
  day: Day;
  meetings: Meeting[];
}

// The latest first; undefined while they are read.
export function useMeetings(): Meeting[] | undefined {
  const account = useAccount();
  const proposals = useAll("meetingProposal").value;
  const people = account.people.value;
  const version = account.peopleVersion.value;
  const pending = account.held.value;
  const { timezone } = account.settings.value;
  return useMemo(() => proposals && meetingsOf(account, proposals, timezone), [proposals, people, version, pending, timezone]);
}

function meetingsOf(account: Account, proposals: readonly Proposal[], zone: string | null): Meeting[] {
  // "Never this series" is not sent yet: as the service will, leave out what else it says.
  const never = account.held.value.filter(({ body }) => body["always"]).map(({ base, body }) => ({ ...(base as unknown as Proposal), always: body["always"] }));
  const isNever = (one: Proposal) => never.some(({ always, title, sourceId }) => isSameTitle(title, one.title) && (always === "title" || sourceId === one.sourceId));
  return proposals
    .flatMap((proposal) => {
      const rows = proposal.people.flatMap(({ id }) => account.person(id) ?? []);
      const people = rows.filter(({ id, isQuiet, hasDied }) => !isQuiet && !hasDied && id !== account.meId);
      return people.length && !isNever(proposal) ? [{ proposal, people, day: dayOf(proposal.at, zone) }] : [];
    })
    .sort((one, other) => (one.proposal.at > other.proposal.at ? -1 : 1));
}

function isSameTitle(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && one.trim().toLowerCase() === other.trim().toLowerCase();
}

export function byDay(meetings: readonly Meeting[]): MeetingDay[] {
  const days: MeetingDay[] = [];
  for (const meeting of meetings) {
    if (days.at(-1)?.day !== meeting.day) days.push({ day: meeting.day, meetings: [] });
    days.at(-1)!.meetings.push(meeting);
  }
  return days;
}

const MAX_NAMES = 3;

export function namesOf(people: readonly PersonRow[]): string {
  const names = people.slice(0, MAX_NAMES).map(({ name }) => name);
  return people.length > MAX_NAMES ? formatList([...names, tn("{count} more", "{count} more", people.length - MAX_NAMES)]) : formatList(names);
}

// What it is called: its title, else who was there.
export function nameOfMeeting({ proposal, people }: Meeting): string {
  return proposal.title ?? namesOf(people);
}

// "12:00 to 13:00"; nothing of whole days, which begin and end at midnight.
export function hoursInWords({ at, endsAt }: Proposal, zone: string | null): string | null {
  const [begin, end] = [new Date(at), new Date(endsAt)];
  const isWhole = at < endsAt && [begin, end].every((time) => wallTime(time, zone).slice(11, 16) === "00:00");
  if (isWhole) return null;
  const from = clockInWords(begin, zone);
  return at === endsAt ? from : t("{from} to {to}", { from, to: clockInWords(end, zone) });
}
