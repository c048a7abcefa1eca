// Files that were chosen without a network.
import { useEffect } from "preact/hooks";
import type { Account } from "../../store/account.ts";
import { formatList, t, tn } from "../../i18n/index.ts";
import { bring } from "./files.ts";
import { kept, readKept, takeKept } from "./kept.ts";

export function KeptNote({ account }: { account: Account }) {
  useEffect(() => void readKept(account), [account]);
  const files = kept.value;
  if (files.length === 0) return null;
  const isOffline = account.sync.value.phase === "offline";
  return (
    <section class={`banner${isOffline ? " warning" : ""}`} aria-label={t("Files that wait")}>
      <p>
        <bdi>{formatList(files.map(({ name }) => name))}</bdi>
        <span class="soft small block">{isOffline ? tn("It is kept in this browser until there is a network.", "They are kept in this browser until there is a network.", files.length) : tn("It was kept in this browser, and can come in now.", "They were kept in this browser, and can come in now.", files.length)}</span>
      </p>
      <p class="row">
        {!isOffline && <button class="main" onClick={() => void takeKept(account).then(bring)}>{t("Look at them")}</button>}
        <button onClick={() => void takeKept(account)}>{t("Forget")}</button>
      </p>
    </section>
  );
}
