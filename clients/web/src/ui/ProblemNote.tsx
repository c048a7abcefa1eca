import { t } from "../i18n/index.ts";
import { NO_CONNECTION, type Problem } from "./problems.ts";

export function ProblemNote({ problem, onRetry }: { problem: Problem | null; onRetry?: () => void }) {
  if (!problem) return null;
  return (
    <div class={`banner ${problem.code === NO_CONNECTION ? "warning" : "danger"}`} role="alert">
      <span>{problem.text}</span>
      {onRetry && <button type="button" onClick={onRetry}>{t("Try again")}</button>}
    </div>
  );
}
