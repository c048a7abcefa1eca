// What a device deleted, brought back. What could not come back is named with its reason.
import type { components } from "contacts-client";
import { connection } from "../../app/session.ts";
import { tn } from "../../i18n/index.ts";
import { toast } from "../../ui/toast.tsx";

type Kept = components["schemas"]["Kept"];

export async function bringBackDeletions(tokenId: string): Promise<void> {
  const { restored, kept } = await connection.ask("POST", `/api/user/devices/${tokenId}/undo-deletions`, {});
  toast([tn("{count} entry is back.", "{count} entries are back.", restored), ...(kept as Kept[]).map(({ name, reason }) => `${name}: ${reason}`)].join(" "));
}
