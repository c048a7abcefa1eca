// Answers to a reminder before it comes, or in place of the buttons of its message: talked, tomorrow, not this time. The
// service keeps them, so they need a connection.
import type { components } from "contacts-client";
import { connection, useAccount } from "../../app/session.ts";
import { dayInWords } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import { useRemote } from "../../store/remote.ts";
import { Menu } from "../../ui/Menu.tsx";
import { problemOf } from "../../ui/problems.ts";
import { toast } from "../../ui/toast.tsx";
import { logNow } from "../person/interactions.ts";
import type { Occurrence } from "./occurrences.ts";

type Answer = components["schemas"]["OpenAnswer"];

export interface Answers {
  find: (occurrence: Occurrence) => Answer | undefined;
  give: (occurrence: Occurrence, action: "snooze" | "skip" | "undo", days?: number) => Promise<void>;
}

// What was answered already. Offline it is not known, and everything is shown as if nothing was.
export function useAnswers(): Answers {
  const [found, reload] = useRemote("reminder answers", async (signal) => (await connection.ask("GET", "/api/reminders/answers", undefined, { signal })).answers as Answer[]);
  const answers = found.value.data ?? [];
  const find = ({ source, on }: Occurrence) => answers.find((answer) => answer.on === on && (answer.dateId ?? answer.personId) === (source?.dateId ?? source?.personId));
  const give: Answers["give"] = async (occurrence, action, days) => {
    try {
      const { message } = await connection.ask("POST", "/api/reminders/answer", { ...occurrence.source, on: occurrence.on, action, ...(days && { days }) });
      await reload();
      toast(message, action === "undo" ? undefined : () => give(occurrence, "undo"));
    } catch (error) {
      toast(problemOf(error).text);
    }
  };
  return { find, give };
}

// How the reminder of an occurrence was answered, in words.
export function answerInWords(answer: Answer | undefined): string | null {
  if (!answer) return null;
  return answer.state === "skipped" ? t("Not this time") : t("again on {day}", { day: dayInWords(answer.again!) });
}

export function AnswerButtons({ occurrence, answers }: { occurrence: Occurrence; answers: Answers }) {
  const account = useAccount();
  const { row, source, title } = occurrence;
  const about = `${title ?? t("To get in touch")}: ${row.name}`;
  const answer = answers.find(occurrence);
  return (
    <span class="row no-print">
      {!occurrence.isMemorial && (
        <button onClick={() => void logNow(account, row, "OTHER")} aria-label={`${t("Talked")}: ${row.name}`}>
          {t("Talked")}
        </button>
      )}
      {source && answer && (
        <button onClick={() => void answers.give(occurrence, "undo")} aria-label={`${t("Remind me again")}: ${about}`}>
          {t("Remind me again")}
        </button>
      )}
      {source && !answer && (
        <Menu
          label={t("Later, or not this time: {what}", { what: about })}
          class="button"
          items={[
            { label: t("Tomorrow"), onSelect: () => void answers.give(occurrence, "snooze", 1) },
            { label: t("In three days"), onSelect: () => void answers.give(occurrence, "snooze", 3) },
            { label: t("Not this time"), onSelect: () => void answers.give(occurrence, "skip") },
          ]}
        >
          {t("Later")}
        </Menu>
      )}
    </span>
  );
}
