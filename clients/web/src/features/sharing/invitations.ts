// Invitations to others' shares: those of a link, or of the account's address.
import { connection } from "../../app/session.ts";

export interface Invitation {
  id: string;
  shareName: string;
  from: string;
  peopleCount: number;
  expiresAt: string;
}

export interface Rehearsal {
  link: { sharedId: string; name: string; personId: string; personName: string }[];
  unsure: { sharedId: string; name: string }[];
  new: { sharedId: string; name: string }[];
  differing: number;
}

export async function readInvitations(token: string | null, signal: AbortSignal): Promise<Invitation[]> {
  const { invitations } = await connection.ask("GET", `/api/share-invitations${token ? `?token=${encodeURIComponent(token)}` : ""}`, undefined, { signal });
  return invitations as Invitation[];
}
