// For accounts from before there was the preference for dates that arrive: it is off for them until they say otherwise.
import { useState } from "preact/hooks";
import { connection, useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { ProblemNote } from "../../ui/ProblemNote.tsx";

// Asked once.
export function RemindersOffer() {
  const account = useAccount();
  const key = `draft ${account.id} reminders offered`; // removed with the drafts when the account leaves this browser
  const [isAsked, setAsked] = useState(localStorage.getItem(key) !== null);
  const [problem, setProblem] = useState<Problem | null>(null);
  if (isAsked || account.settings.value.dateReminderDefault !== "none" || account.people.value.length === 0) return null;
  const answer = async (isWanted: boolean) => {
    try {
      if (isWanted) await connection.ask("PUT", "/api/user/date-reminder-default", { dateReminderDefault: "birthdays" });
    } catch (error) {
      return setProblem(problemOf(error));
    }
    localStorage.setItem(key, "1");
    setAsked(true);
    account.syncer.syncNow();
  };
  return (
    <section class="banner" aria-label={t("Reminders")}>
      <p>{t("You are not reminded of imported birthdays.")}</p>
      <p class="row">
        <button class="main" onClick={() => void answer(true)}>{t("Remind me")}</button>
        <button onClick={() => void answer(false)}>{t("No")}</button>
      </p>
      <ProblemNote problem={problem} />
    </section>
  );
}
