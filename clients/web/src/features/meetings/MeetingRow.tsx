// A meeting that may be logged: who, what, when; one tap logs it. Who is not here yet comes with it by a tap on their name.
import { useState } from "preact/hooks";
import { useAccount } from "../../app/session.ts";
import { t, tn } from "../../i18n/index.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Menu } from "../../ui/Menu.tsx";
import { dismissMeeting, logMeetings } from "./answer.ts";
import { MeetingDialog } from "./MeetingDialog.tsx";
import { hoursInWords, type Meeting, nameOfMeeting, namesOf } from "./proposals.ts";
import "./meetings.css";

const MAX_FACES = 3;
const MAX_GUESTS = 3; // of those who are not here yet; the others are in the dialog

export function MeetingRow({ meeting }: { meeting: Meeting }) {
  const account = useAccount();
  const { proposal, people } = meeting;
  const { title, location, sourceName, unknown } = proposal;
  const [guests, setGuests] = useState<string[]>([]);
  const [isChoosing, setChoosing] = useState(false);
  const what = nameOfMeeting(meeting);
  const names = namesOf(people);
  // The title stands out in the sentence.
  const [before = "", after = ""] = title ? t("You met {names}: {title}", { names }).split("{title}") : [t("You met {names}", { names })];
  const shown = unknown.slice(0, MAX_GUESTS);
  const log = () => logMeetings(account, [meeting], guests.length ? { createPeople: guests } : {});
  const toggle = (email: string) => setGuests(guests.includes(email) ? guests.filter((each) => each !== email) : [...guests, email]);
  return (
    <li class="meeting" data-card tabIndex={-1}>
      <span class="pile">{people.slice(0, MAX_FACES).map((person) => <Avatar key={person.id} person={person} />)}</span>
      <div class="meeting-text">
        <p>
          {before}
          {title && <b class="meeting-title"><bdi>{title}</bdi></b>}
          {after}
        </p>
        <p class="soft small">{[hoursInWords(proposal, account.settings.value.timezone), location, sourceName].filter(Boolean).join(" · ")}</p>
      </div>
      {unknown.length > 0 && (
        <p class="row small meeting-unknown" role="group" aria-label={t("Not here yet")}>
          <span class="soft">{t("Not here yet")}:</span>
          {shown.map(({ email, name }) => (
            <button key={email} class={`chip ${guests.includes(email) ? "chosen" : "add"}`} aria-pressed={guests.includes(email)} title={email} onClick={() => toggle(email)}>
              <Icon name={guests.includes(email) ? "check" : "add"} size={14} />
              <bdi>{name ?? email}</bdi>
            </button>
          ))}
          {unknown.length > MAX_GUESTS && <button class="chip" onClick={() => setChoosing(true)}>{tn("{count} more", "{count} more", unknown.length - MAX_GUESTS)}</button>}
        </p>
      )}
      <span class="row nowrap meeting-buttons no-print">
        <button class="tint" data-key="d" onClick={() => void log()} aria-label={t("Log it: {what}", { what })}>
          <Icon name="check" size={18} />
          {t("Log it")}
        </button>
        <button class="plain icon" data-key="x" onClick={() => void dismissMeeting(account, meeting)} aria-label={t("Do not log: {what}", { what })}>
          <Icon name="close" size={18} />
        </button>
        <Menu
          label={t("More: {what}", { what })}
          letter="s"
          items={[
            { label: t("Choose who was there"), onSelect: () => setChoosing(true) },
            { label: t("Never this series"), onSelect: () => void dismissMeeting(account, meeting, { always: "series" }) },
            title !== null && { label: t("Never anything called “{title}”", { title }), onSelect: () => void dismissMeeting(account, meeting, { always: "title" }) },
          ]}
        >
          <Icon name="more" size={18} />
        </Menu>
      </span>
      {isChoosing && <MeetingDialog meeting={meeting} guests={guests} onClose={() => setChoosing(false)} />}
    </li>
  );
}
