// Answers to a reminder before it comes, or in place of the buttons of its message: tomorrow, not this time. The
// service keeps them, so they need a connection.
import type { components } from "contacts-client";
import { connection } from "../../app/session.ts";
import { dayInWords } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import { useRemote } from "../../store/remote.ts";
import { Icon } from "../../ui/Icon.tsx";
import { Menu, type MenuItem } from "../../ui/Menu.tsx";
import { problemOf } from "../../ui/problems.ts";
import { toast } from "../../ui/toast.tsx";
import { type Occurrence, occurrenceInWords } from "./occurrences.ts";

type Answer = components["schemas"]["OpenAnswer"];

export interface Answers {
  find: (occurrence: Occurrence) => Answer | undefined;
  give: (occurrence: Occurrence, action: "snooze" | "skip" | "undo", days?: number) => Promise<void>;
}

// What was answered already. Offline it is not known, and everything is shown as if nothing was.
export function useAnswers(): Answers {
  const [found, reload] = useRemote("reminder answers", async (signal) => (await connection.ask("GET", "/api/reminders/answers", undefined, { signal })).answers as Answer[]);
  const answers = found.value.data ?? [];
  const find = (occurrence: Occurrence) => answers.find((answer) => answer.on === occurrence.on && sourcesOf(occurrence).some((source) => (answer.dateId ?? answer.personId) === (source.dateId ?? source.personId)));
  const give: Answers["give"] = async (occurrence, action, days) => {
    try {
      let message = "";
      for (const source of sourcesOf(occurrence)) ({ message } = await connection.ask("POST", "/api/reminders/answer", { ...source, on: occurrence.on, action, ...(days && { days }) }));
      await reload();
      toast(message, action === "undo" ? undefined : () => give(occurrence, "undo"));
    } catch (error) {
      toast(problemOf(error).text);
    }
  };
  return { find, give };
}

// The reminders of an occurrence: that of a couple has two.
const sourcesOf = ({ source, with: other }: Occurrence) => [source, other?.source].filter((each) => each != null);

// How the reminder of an occurrence was answered, in words.
export function answerInWords(answer: Answer | undefined): string | null {
  if (!answer) return null;
  return answer.state === "skipped" ? t("Not this time") : t("again on {day}", { day: dayInWords(answer.again!) });
}

// Puts the reminder off or leaves it out; where that was done already, takes it back. `others` are what else there is to do.
export function Later({ occurrence, answers, others = [] }: { occurrence: Occurrence; answers: Answers; others?: MenuItem[] }) {
  const what = occurrenceInWords(occurrence);
  const isReminded = sourcesOf(occurrence).length > 0;
  const isAnswered = answers.find(occurrence) !== undefined;
  const items = [
    ...others,
    isReminded && isAnswered && { label: t("Remind me again"), onSelect: () => void answers.give(occurrence, "undo") },
    ...(isReminded && !isAnswered
      ? [
          { label: t("Tomorrow"), onSelect: () => void answers.give(occurrence, "snooze", 1) },
          { label: t("In three days"), onSelect: () => void answers.give(occurrence, "snooze", 3) },
          { label: t("Not this time"), onSelect: () => void answers.give(occurrence, "skip") },
        ]
      : []),
  ].filter((item): item is MenuItem => Boolean(item));
  if (items.length === 0) return null;
  return (
    <Menu label={t("Later, or not this time: {what}", { what })} letter="s" class="plain icon no-print" items={items}>
      <Icon name={others.length ? "more" : "clock"} size={18} />
    </Menu>
  );
}
