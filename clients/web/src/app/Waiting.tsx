// That an answer of the service takes its time: a line at the upper edge, which moves nothing.
import { t } from "../i18n/index.ts";
import { isWaiting } from "./reach.ts";

export function Waiting() {
  return isWaiting.value ? <progress class="waiting no-print" aria-label={t("Waiting for the server")} /> : null;
}
