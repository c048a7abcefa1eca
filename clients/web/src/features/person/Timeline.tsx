// What there was with a person, the latest first.
import { useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { timeInWords } from "../../i18n/days.ts";
import { formatList, t } from "../../i18n/index.ts";
import { useRecordsOf } from "../../store/records.ts";
import { Icon } from "../../ui/Icon.tsx";
import { Menu } from "../../ui/Menu.tsx";
import type { Person } from "./entries.ts";
import { deleteInteraction, kindLabel, KINDS } from "./interactions.ts";
import { Notes } from "./Notes.tsx";
import { navigate } from "../../app/router.ts";

const SHOWN_AT_FIRST = 10;

export function Timeline({ person, name }: { person: Person; name: string }) {
  const account = useAccount();
  const [isWhole, setWhole] = useState(false);
  const found = useRecordsOf("interaction", person.id).value ?? [];
  if (found.length === 0) return null;
  const sorted = [...found].sort((one, other) => (one.at > other.at ? -1 : 1));
  const shown = isWhole ? sorted : sorted.slice(0, SHOWN_AT_FIRST);
  return (
    <section class="card stack tight" aria-label={t("Contacts")}>
      <div class="row apart">
        <h2>{t("Contacts|that were logged")}</h2>
        <a class="button plain no-print" href={href(`/log?person=${person.id}`)}>
          {t("Log a contact")}
        </a>
      </div>
      <ul class="timeline">
        {shown.map((interaction) => {
          const others = interaction.personIds.filter((id) => id !== person.id).flatMap((id) => account.person(id)?.name ?? []);
          return (
            <li key={interaction.id}>
              <Icon name={KINDS.find(({ kind }) => kind === interaction.kind)?.icon ?? "log"} />
              <div>
                <p>
                  <strong>{interaction.title || kindLabel(interaction.kind)}</strong>
                  {others.length > 0 && <span> {t("with {names}", { names: formatList(others) })}</span>}
                </p>
                <p class="soft small">{timeInWords(interaction.at, account.settings.value.timezone)}</p>
                {interaction.notes && <Notes text={interaction.notes} />}
              </div>
              <Menu
                label={t("{kind} with {name}, {when}", { kind: kindLabel(interaction.kind), name, when: timeInWords(interaction.at, account.settings.value.timezone) })}
                items={[
                  { label: t("Edit"), onSelect: () => navigate(`/log?entry=${interaction.id}`) },
                  { label: t("Delete"), isDanger: true, onSelect: () => void deleteInteraction(account, interaction) },
                ]}
              >
                <Icon name="more" />
              </Menu>
            </li>
          );
        })}
      </ul>
      {shown.length < sorted.length && (
        <button class="plain" onClick={() => setWhole(true)}>
          {t("Show all")}
        </button>
      )}
    </section>
  );
}
