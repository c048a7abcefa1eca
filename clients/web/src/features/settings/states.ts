// What the list of settings says of each: most visits end there.
import { connection, useAccount } from "../../app/session.ts";
import { theme } from "../../app/theme.ts";
import { LANGUAGES, t, tn } from "../../i18n/index.ts";
import { bodiesOf, useRemote } from "../../store/remote.ts";
import type { SettingKey } from "./entries.ts";

const PATHS = ["/api/user/devices", "/api/calendar-feeds", "/api/carddav/connection", "/api/calendar-sources"];

// What is not in the copy is asked for in one request, when the list opens; without an answer those lines have their hint.
export function useStates(): Partial<Record<SettingKey, string>> {
  const { settings, relationshipTypes, templates } = useAccount();
  const [remote] = useRemote("states of settings", async (signal) => {
    const operations = PATHS.map((path) => ({ method: "GET", path }));
    const { results } = await connection.ask("POST", "/api/batch", { operations }, { signal });
    const [devices, feeds, server, calendars] = bodiesOf(results);
    return { devices: devices.devices?.length ?? 0, feeds: feeds.calendarFeeds?.length ?? 0, isOnServer: Boolean(server.connection), calendars: calendars.calendarSources ?? [] };
  });
  const user = settings.value;
  const kinds = relationshipTypes.byId.value.size;
  const fields = templates.byId.value.size;
  const found = remote.value.data;
  const colours = theme.value === "system" ? t("as the system") : user.theme === "DARK" ? t("dark|colours") : t("light|colours");
  return {
    ...(user.name && { you: [user.name, user.surname].filter(Boolean).join(" ") }),
    ...(user.language && { look: `${LANGUAGES[user.language]}, ${colours}` }),
    ...(user.emailRemindersEnabled !== undefined && { reminders: user.emailRemindersEnabled ? t("By mail, at {hour}:00", { hour: user.reminderHour }) : t("Not by mail") }),
    ...(kinds > 0 && { kinds: tn("{count} kind", "{count} kinds", kinds) }),
    ...(fields > 0 && { fields: tn("{count} field", "{count} fields", fields) }),
    ...(user.mfaEnabled && { security: t("Two steps on") }),
    ...(found && {
      devices: found.devices ? tn("{count} connected", "{count} connected", found.devices) : t("None connected"),
      feeds: found.feeds ? tn("{count} calendar", "{count} calendars", found.feeds) : t("None yet|calendars"),
      calendars: calendarsInWords(found.calendars),
      server: found.isOnServer ? t("Connected") : t("Not connected"),
    }),
  };
}

function calendarsInWords(calendars: { state: string }[]): string {
  const failing = calendars.filter(({ state }) => state === "failing").length;
  if (failing) return tn("{count} cannot be read", "{count} cannot be read", failing);
  return calendars.length ? tn("{count} calendar", "{count} calendars", calendars.length) : t("None yet|calendars");
}
