// Accounts without data on a running service, for tests/clients/test_kit.py of the repository.
import { Connection, Copy, MemoryStore, retryingFetch, type Send } from "../src/index.ts";

export const BASE = process.env["BASE"] ?? "";
const tokens = (process.env["TOKENS"] ?? "").split(" ");
// Of accounts with Ada and five proposed meetings with her, "Lunch 0" to "Lunch 4", a day apart; an unknown guest was there,
// too.
const meetingsTokens = (process.env["MEETINGS_TOKENS"] ?? "").split(" ");

export interface Device {
  connection: Connection;
  store: MemoryStore;
  copy: Copy;
  requests: string[]; // method and path of each, in order
  token: string;
}

// A token of an account that no other test uses.
export function newToken(): string {
  const token = tokens.pop();
  if (!token) throw new Error("there are more tests than accounts: see ACCOUNTS in tests/clients/test_kit.py");
  return token;
}

export function newMeetingsToken(): string {
  const token = meetingsTokens.pop();
  if (!token) throw new Error("there are more tests than accounts: see MEETINGS in tests/clients/test_kit.py");
  return token;
}

// A device of an account that no other test uses, with an empty copy. `send` stands between the kit and the network.
export function newDevice(send: Send = fetch): Device {
  const token = newToken();
  const requests: string[] = [];
  const noted: Send = (request) => {
    requests.push(`${request.method} ${request.url.slice(BASE.length)}`);
    return send(request);
  };
  const connection = new Connection(BASE, token, retryingFetch(noted));
  const store = new MemoryStore();
  return { connection, store, copy: new Copy(store, connection), requests, token };
}

// The people of the account as the service has them, without the trash.
export async function peopleOf({ token }: Device): Promise<Record<string, any>[]> {
  return (await elsewhere(token).ask("GET", "/api/people"))["people"];
}

// Another device of the account, which has no copy.
export function elsewhere(token: string): Connection {
  return new Connection(BASE, token);
}
