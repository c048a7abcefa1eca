import { connection } from "../../app/session.ts";
import { tn } from "../../i18n/index.ts";
import type { Account } from "../../store/account.ts";
import { toast } from "../../ui/toast.tsx";

// Takes imports back, and says what became of the people.
export async function undoImports(account: Account, ids: string[]): Promise<void> {
  let removed = 0;
  let kept = 0;
  for (const id of ids) {
    const answer = await connection.ask("DELETE", `/api/imports/${id}`);
    removed += answer["removed"];
    kept += answer["kept"].length;
  }
  toast([tn("{count} person went to the trash.", "{count} people went to the trash.", removed), kept > 0 && tn("{count} stays, since it was changed.", "{count} stay, since they were changed.", kept)].filter(Boolean).join(" "));
  account.syncer.syncNow();
}
