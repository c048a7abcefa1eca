// What is to decide: changes kept here, and the figures of the service, which it has from its last search. They are kept in
// this browser, so they are there at once and without a network.
import { useEffect } from "preact/hooks";
import { href } from "../../app/router.ts";
import { connection, useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { useRemote } from "../../store/remote.ts";
import { Icon } from "../../ui/Icon.tsx";
import { readInvitations } from "../sharing/invitations.ts";
import { useKept } from "../sharing/useKept.ts";
import { decisionsOf, type Figures } from "./decisions.ts";

const SEARCH_AFTER_MILLISECONDS = 3_000;
const SEARCH_EACH_MILLISECONDS = 24 * 60 * 60_000;

export function Decisions({ meetings }: { meetings: number }) {
  const account = useAccount();
  const key = `draft ${account.id} figures`; // removed with the drafts when the account leaves this browser
  const [found, reload] = useRemote<Figures>("figures", async (signal) => {
    const figures = (await connection.ask("GET", "/api/dashboard/stats", undefined, { signal })) as unknown as Figures;
    localStorage.setItem(key, JSON.stringify(figures));
    return figures;
  });
  const { data, problem } = found.value;
  // Without a search of the last day the service is asked to search, once a day in this browser: it compares everybody.
  const searchedKey = `${key} searched`;
  const isUnknown = data !== undefined && (data.duplicates === null || data.suggestions === null) && account.people.value.length > 1;
  useEffect(() => {
    if (!isUnknown || Date.now() - Number(localStorage.getItem(searchedKey)) < SEARCH_EACH_MILLISECONDS) return;
    const timer = setTimeout(async () => {
      localStorage.setItem(searchedKey, String(Date.now()));
      try {
        await connection.ask("GET", "/api/people/duplicates");
        await connection.ask("GET", "/api/relationship-suggestions");
        await reload();
      } catch {
        localStorage.removeItem(searchedKey); // such as without a network
      }
    }, SEARCH_AFTER_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [isUnknown]);
  const [{ data: invitations }] = useKept("share invitations", (signal) => readInvitations(null, signal));
  const kept = localStorage.getItem(key);
  const isOffline = account.sync.value.phase === "offline";
  const shown = decisionsOf({ account, meetings, invitations: invitations?.length ?? 0, figures: data ?? (kept ? JSON.parse(kept) : {}) });
  const isUnread = problem !== null && !isOffline;
  if (shown.length === 0 && !isUnread) return null;
  return (
    <section class="section" aria-label={t("To decide")}>
      <header>
        <h2>{t("To decide")}</h2>
      </header>
      {shown.length > 0 && (
        <ul class="card flush lines">
          {shown.map(({ path, icon, text }) => (
            <li key={path} class="to-decide">
              <a href={href(path)}>
                <span class="tile kind-tie">
                  <Icon name={icon} size={16} />
                </span>
                <span class="grow">{text}</span>
                <Icon name="next" size={16} />
              </a>
            </li>
          ))}
        </ul>
      )}
      {isUnread && (
        <p class="small soft" role="alert">
          {problem.text}{" "}
          <button class="link" onClick={() => void reload()}>{t("Try again")}</button>
        </p>
      )}
    </section>
  );
}
