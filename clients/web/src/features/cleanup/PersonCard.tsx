// What tells one person from another, beside others.
import { useAccount } from "../../app/session.ts";
import { formatDay } from "../../i18n/days.ts";
import { t } from "../../i18n/index.ts";
import { useRecord, useRecordsOf } from "../../store/records.ts";
import { PersonLink } from "../people/PersonLink.tsx";
import { addressLines, type Entry } from "../person/entries.ts";
import { occasion } from "../person/dates.ts";

export function PersonCard({ id, name }: { id: string; name: string }) {
  const account = useAccount();
  const person = useRecord("person", id).value;
  const dates = useRecordsOf("importantDate", id).value ?? [];
  const { dateFormat } = account.settings.value;
  const facts = person
    ? ([
        [t("Organization"), [person.jobTitle, person.organization].filter(Boolean).join(", ")],
        [t("Phone"), person.phoneNumbers.map(({ number }) => number).join(", ")],
        [t("E-mail"), person.emails.map(({ email }) => email).join(", ")],
        [t("Address"), person.addresses.map((entry) => addressLines(entry as Entry).join(", ")).join("; ")],
        [t("Groups"), person.groupIds.map((group) => account.groups.byId.value.get(group)?.name).filter(Boolean).join(", ")],
        ...dates.map((date) => [occasion(date), formatDay(date.date, dateFormat, date.yearUnknown)]),
        [t("Last contact"), person.lastContact ? formatDay(person.lastContact, dateFormat) : ""],
      ] as [string, string][])
    : [];
  return (
    <div class="stack tight">
      <PersonLink person={{ id, name, photo: person?.photo ?? null }} />
      <dl class="facts-list">
        {facts
          .filter(([, value]) => value)
          .map(([label, value]) => (
            <div key={label + value}>
              <dt class="soft small">{label}</dt>
              <dd>
                <bdi>{value}</bdi>
              </dd>
            </div>
          ))}
      </dl>
    </div>
  );
}
