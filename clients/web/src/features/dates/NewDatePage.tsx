// Adds a date: with whom, then what and when.
import { useState } from "preact/hooks";
import { goBack, place } from "../../app/router.ts";
import { useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { Page } from "../../ui/Page.tsx";
import { createNewPeople, nameOfPicked } from "../people/newPeople.ts";
import { PersonPicker } from "../people/PersonPicker.tsx";
import { DateDialog } from "../person/DateDialog.tsx";
import "../person/person.css";

export default function NewDatePage() {
  const account = useAccount();
  const { query } = place.value;
  const given = query.get("person");
  const [ids, setIds] = useState<string[]>(given ? [given] : []);
  const [id] = ids;
  const name = id ? nameOfPicked(account, id) : undefined;
  return (
    <Page title={t("New date")} back="/dates" width="form">
      <div class="card">
        <PersonPicker label={t("Whose")} ids={ids} onIds={(chosen) => setIds(chosen.slice(-1))} autoFocus={!id} withNew />
      </div>
      {id && name && (
        <DateDialog
          personId={id}
          name={name}
          date={null}
          day={query.get("day") ?? ""}
          makeOwner={async () => (await createNewPeople(account, ids))[0]!}
          onClose={() => goBack(account.person(id) ? `/people/${id}` : "/dates")}
        />
      )}
    </Page>
  );
}
