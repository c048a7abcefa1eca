// The form of a new device. It makes an app password, which is shown once.
import { useState } from "preact/hooks";
import { connection, useAccount } from "../../app/session.ts";
import { capitalized, t } from "../../i18n/index.ts";
import { SelectField } from "../../ui/Field.tsx";
import { useForm } from "../../ui/form.ts";
import { type Problem, problemOf } from "../../ui/problems.ts";
import { DeviceFields } from "./DeviceFields.tsx";
import { bodyOf, isComplete, NEW_DEVICE } from "./settings.ts";
import { type Program, programOptions } from "./words.ts";

export const newDeviceKey = (accountId: string) => `${accountId} new device`;

export interface MadeDevice {
  id: string;
  password: string;
  program: Program;
}

export function NewDevice({ onMade, onClose }: { onMade: (made: MadeDevice) => void; onClose: () => void }) {
  const { id: accountId } = useAccount();
  const form = useForm(newDeviceKey(accountId), () => ({ ...NEW_DEVICE, program: "apple" as Program, groupCards: true, isReadOnly: false }));
  const values = form.values.value;
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const choose = (program: Program) => {
    form.set("program", program);
    form.set("groupCards", program === "apple");
  };
  const make = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      const { program, isReadOnly } = values;
      const { apiToken } = await connection.ask("POST", "/api/user/api-tokens", { ...bodyOf(values), scope: isReadOnly ? "READ" : "READ_WRITE" });
      form.end();
      onMade({ id: apiToken.id, password: apiToken.token, program });
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  return (
    <form class="card stack" onSubmit={make}>
      <h2>{t("Add a phone or computer")}</h2>
      <DeviceFields form={form} problem={problem}>
        <SelectField label={t("What it is")} value={values.program} options={programOptions()} onValue={(program) => choose(program as Program)} />
        <SelectField label={t("What it may do")} value={values.isReadOnly ? "READ" : "READ_WRITE"} onValue={(scope) => form.set("isReadOnly", scope === "READ")} options={[["READ_WRITE", capitalized(t("reads and writes"))], ["READ", capitalized(t("reads only"))]]} hint={t("This cannot be changed later.")} />
      </DeviceFields>
      <div class="row">
        <button class="main" disabled={isBusy || !isComplete(values)}>{t("Make an app password")}</button>
        <button
          type="button"
          onClick={() => {
            form.end();
            onClose();
          }}
        >
          {t("Cancel")}
        </button>
      </div>
    </form>
  );
}
