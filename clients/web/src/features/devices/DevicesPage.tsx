// The phones, computers and mail programs that have the people and dates in their own address book and calendar.
import type { components } from "contacts-client";
import { useState } from "preact/hooks";
import { place, setQuery } from "../../app/router.ts";
import { connection, useAccount } from "../../app/session.ts";
import { t } from "../../i18n/index.ts";
import { useAttempt, useRemote } from "../../store/remote.ts";
import { hasDraft } from "../../ui/form.ts";
import { Empty } from "../../ui/Empty.tsx";
import { Page } from "../../ui/Page.tsx";
import { ProblemNote } from "../../ui/ProblemNote.tsx";
import { Section } from "../settings/rows.tsx";
import { Connect } from "./Connect.tsx";
import { DeviceCard, type DeviceRow } from "./DeviceCard.tsx";
import { type MadeDevice, NewDevice, newDeviceKey } from "./NewDevice.tsx";
import { SetUp } from "./SetUp.tsx";
import { type Program, PROGRAMS, programOf } from "./words.ts";
import "./devices.css";

type Schemas = components["schemas"];

async function readDevices(signal: AbortSignal): Promise<DeviceRow[]> {
  const [{ devices }, { tokens }] = await Promise.all([
    connection.ask("GET", "/api/user/devices", undefined, { signal }),
    connection.ask("GET", "/api/user/api-tokens", undefined, { signal }),
  ]);
  const seen = (devices as Schemas["Device"][]).map((device) => ({ token: { ...device, id: device.tokenId }, device }));
  // App passwords that were made and never used. One that only a script uses is no device.
  const waiting = (tokens as Schemas["ApiToken"][]).filter(({ kind, lastUsedAt }) => kind === "token" && !lastUsedAt);
  return [...waiting.filter(({ id }) => !seen.some(({ token }) => token.id === id)).map((token) => ({ token, device: null })), ...seen];
}

export default function DevicesPage() {
  const account = useAccount();
  const [found, reload] = useRemote("devices", readDevices);
  const [isAdding, setAdding] = useState(hasDraft(newDeviceKey(account.id)));
  const [made, setMade] = useState<MadeDevice | null>(null);
  const [problem, attempt] = useAttempt(reload, () => account.syncer.syncNow());
  const { query } = place.value;
  const shown = found.value.data?.find(({ token }) => token.id === query.get("device"));
  const wanted = query.get("program") as Program | null;
  const open = ({ token, device }: DeviceRow) => setQuery({ device: token.id, program: programOf(device?.userAgent ?? "") });
  const take = (device: MadeDevice) => {
    setAdding(false);
    setMade(device);
    setQuery({ device: device.id, program: device.program });
    void reload();
  };
  const close = () => {
    setMade(null);
    setQuery({ device: null, program: null });
  };
  return (
    <Page
      title={t("Phones and computers")}
      back="/settings"
      width="form"
    >
      <p>{t("Your people stand in the address book of a phone, a computer or a mail program, your dates in its calendar. What is changed there is changed here, and the reverse.")}</p>
      <ProblemNote problem={problem ?? found.value.problem} onRetry={() => void reload()} />
      {shown ? (
        <SetUp
          key={shown.token.id}
          device={shown.token}
          password={made?.id === shown.token.id ? made.password : null}
          isConnected={shown.device !== null}
          program={wanted && PROGRAMS.includes(wanted) ? wanted : "other"}
          onProgram={(program) => setQuery({ program })}
          onLook={reload}
          onClose={close}
        />
      ) : isAdding ? (
        <NewDevice onMade={take} onClose={() => setAdding(false)} />
      ) : (
        <Connect onMade={take} onByHand={() => setAdding(true)} />
      )}
      {found.value.data && (
        <Section title={t("Connected|devices")}>
          {found.value.data.length === 0 && <div class="card"><Empty kind="touch"><p>{t("No phone or computer yet.")}</p></Empty></div>}
          {found.value.data.map((row) => <DeviceCard key={row.token.id} row={row} attempt={attempt} onSetUp={() => open(row)} />)}
        </Section>
      )}
    </Page>
  );
}
