// What others have done that the user is asked about: somebody was taken out, two were joined, many were changed at once; and who
// waits for room.
import { useAccount } from "../../app/session.ts";
import { t, tn } from "../../i18n/index.ts";
import { timeInWords } from "../../i18n/days.ts";
import { Avatar } from "../../ui/Avatar.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { giveWithUndo } from "./answers.ts";
import type { Waiting } from "./review.ts";
import type { Share } from "./shares.ts";

interface Answer {
  label: string;
  done: string; // what is said then
  action: string;
  isMain?: boolean;
}

export function Question({ share, row }: { share: Share; row: Waiting }) {
  const account = useAccount();
  const { sharedId, name, reason, by, at } = row;
  const isHold = reason === "held";
  const { text, why, list } = wordsOf(row, share);
  const person = account.person(row.personId ?? "");
  const path = `/api/shares/${share.id}/${isHold ? "held" : "waiting"}`;
  const give = ({ action, done }: Answer) =>
    void giveWithUndo(account, { path, body: isHold ? { action, sharedId } : { items: [{ sharedId, action }] }, about: [sharedId], text: done });
  return (
    <li class="card share-question" data-row tabIndex={-1}>
      {isHold ? <span class="tile kind-danger"><Icon name="warning" size={18} /></span> : <Avatar person={person ?? { id: sharedId, name, photo: null }} />}
      <div class="grow share-name">
        <p><strong>{text}</strong></p>
        <p class="soft small">{why}</p>
        <p class="soft small">{[by, timeInWords(at, account.settings.value.timezone)].filter(Boolean).join(" · ")}</p>
      </div>
      {list.length > 0 && (
        <div class="row share-answers">
          {list.map((answer, index) => (
            <button key={answer.action} class={answer.isMain ? "tint" : undefined} data-key={String(index + 1)} onClick={() => give(answer)} aria-label={`${answer.label}: ${text}`}>
              {answer.label}
            </button>
          ))}
        </div>
      )}
    </li>
  );
}

function wordsOf({ reason, name, by, candidates, count }: Waiting, share: Share): { text: string; why: string; list: Answer[] } {
  switch (reason) {
    case "taken_out":
      return {
        text: t("{by} took {name} out", { by, name }),
        why: t("With you {name} is as before, and goes on being shared with those who keep {name}.", { name }),
        list: [
          { label: t("Keep here"), done: t("{name} stays.", { name }), action: "keep", isMain: true },
          { label: t("Remove here, too"), done: t("{name} is taken out here, too.", { name }), action: "remove" },
        ],
      };
    case "merged": {
      const other = candidates?.[0]?.personName ?? t("somebody else");
      return {
        text: t("{by} says that {name} and {other} are one person", { by, name, other }),
        why: t("Joined, one person has what both have. It can be undone for 30 days."),
        list: [
          { label: t("Join them here, too"), done: t("{name} and {other} are one person.", { name, other }), action: "accept", isMain: true },
          { label: t("They are two"), done: t("{name} and {other} stay two.", { name, other }), action: "keep" },
        ],
      };
    }
    case "held":
      return {
        text: tn("{by} changed or removed {count} person at once", "{by} changed or removed {count} people at once", count ?? 0, { by }),
        why: t("That may be a slip, so nobody else has it yet. Refused, {by} gets back what “{name}” has.", { by, name: share.name }),
        list: [
          { label: t("Let it through"), done: t("It is let through to all."), action: "accept" },
          { label: t("Refuse it"), done: t("It is refused, and nothing changes here."), action: "refuse", isMain: true },
        ],
      };
    case "plan_limit":
      return { text: t("{name} finds no room here", { name }), why: t("Your account is full. As soon as there is room, {name} comes by itself.", { name }), list: [] };
    default:
      return { text: t("{name} waits until there is room", { name }), why: t("Two thousand people are shared, which is the most. {name} stays with you alone until then.", { name }), list: [] };
  }
}
