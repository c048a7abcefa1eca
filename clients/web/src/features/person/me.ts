// The person that the user is (PUT /api/user/me-person), which needs the service: the copy edits no profile.
import { t } from "../../i18n/index.ts";
import type { Account } from "../../store/account.ts";
import { problemOf } from "../../ui/problems.ts";
import { toast } from "../../ui/toast.tsx";

// Names the person, or nobody.
export async function setMe(account: Account, id: string | null): Promise<void> {
  const before = account.meId;
  const put = async (personId: string | null) => {
    try {
      await account.connection.ask("PUT", "/api/user/me-person", { personId });
      account.syncer.syncNow();
      return true;
    } catch (error) {
      toast(problemOf(error).text);
      return false;
    }
  };
  const name = account.person(id ?? before ?? "")?.name ?? "";
  if (await put(id)) toast(id ? t("{name} is you from now on.", { name }) : t("{name} is no longer you.", { name }), () => put(before));
}
