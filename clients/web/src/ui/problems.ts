// What a refused request says to the user. The service writes in the account's language, before a sign-in in the browser's.
import { RefusedError } from "contacts-client";
import { t, tn } from "../i18n/index.ts";

export interface Problem {
  text: string;
  fields: Record<string, string>; // by the name of the field, such as `emails.0.email`
  code: string | undefined;
}

export const NO_CONNECTION = "no_connection"; // not a code of the service

export function problemOf(error: unknown): Problem {
  if (!(error instanceof RefusedError)) {
    return { text: t("There is no connection to the service. Try again when you are online."), fields: {}, code: NO_CONNECTION };
  }
  const details = (error.body["details"] ?? []) as { field: string; message: string }[];
  const fields = Object.fromEntries(details.map(({ field, message }) => [field, message]));
  const minutes = Math.ceil((error.retryAfter ?? 0) / 60);
  const wait = minutes > 0 ? ` ${tn("Try again in {count} minute.", "Try again in {count} minutes.", minutes)}` : "";
  return { text: `${String(error.body["error"] ?? t("That did not work."))}${wait}`, fields, code: error.code };
}
