// Two devices edit offline and sync over a network that loses responses: nothing is lost, nothing is stored twice.
import { Connection, Copy, MemoryStore, retryingFetch } from "../src/index.ts";

declare const process: { env: Record<string, string | undefined> };

const base = process.env["BASE"] ?? "";
const token = process.env["TOKEN"] ?? "";
const othersToken = process.env["OTHERS_TOKEN"] ?? "";

function check(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

// A device whose network loses the responses of the next `losses` requests with this method.
function device(): { copy: Copy; store: MemoryStore; network: { method: string; losses: number }; restart: () => Copy } {
  const store = new MemoryStore();
  const network = { method: "", losses: 0 };
  const send = retryingFetch(
    async (request) => {
      const response = await fetch(request);
      if (request.method !== network.method || network.losses === 0) return response;
      network.losses--;
      await response.body?.cancel();
      throw new TypeError("the response was lost");
    },
    2,
    async () => undefined,
  );
  const restart = () => new Copy(store, new Connection(base, token, send));
  return { copy: restart(), store, network, restart };
}

async function named(copy: Copy, name: string): Promise<Record<string, any>> {
  const found = (await copy.all("person")).find((person) => person["name"] === name);
  check(found, `${name} is there`);
  return found;
}

async function settle(...copies: Copy[]): Promise<void> {
  for (let round = 0; round < 10; round++) {
    let changes = 0;
    for (const copy of copies) {
      const report = await copy.sync();
      changes += report.pulled + report.pushed;
    }
    if (changes === 0) return;
  }
  throw new Error("the devices do not stop syncing");
}

const phone = device();
const laptop = device();

const family = await phone.copy.create("group", { name: "Family" });
const ada = await phone.copy.create("person", { name: "Ada", groupIds: [family], emails: [{ email: "ada@example.org" }] });
await phone.copy.create("importantDate", { personId: ada, type: "BIRTHDAY", date: "1815-12-10" });
const carl = await phone.copy.create("person", { name: "Carl" });
await settle(phone.copy, laptop.copy);
check((await laptop.copy.all("importantDate")).length === 1, "a date created offline is synced");

const [mail] = (await named(phone.copy, "Ada"))["emails"];
await phone.copy.update("person", ada, { notes: "phone's", surname: "Lovelace", emails: [mail, { email: "p@example.org" }] });
await laptop.copy.update("person", ada, { notes: "laptop's", nickname: "Countess", emails: [mail, { email: "l@example.org" }] });
await laptop.copy.update("person", carl, { notes: "kept" });
await phone.copy.delete("person", carl);

// Both attempts to send the phone's edit lose their responses, and then the program ends.
phone.network.method = "PUT";
phone.network.losses = 2;
await phone.copy.sync().then(
  () => check(false, "the sync fails"),
  (error) => check(error instanceof TypeError, String(error)),
);
phone.copy = phone.restart();
await settle(phone.copy, laptop.copy);

for (const { copy } of [phone, laptop]) {
  const seen = await named(copy, "Ada");
  check(seen["surname"] === "Lovelace" && seen["nickname"] === "Countess", "fields are merged");
  const mails = seen["emails"].map((entry: { email: string }) => entry.email).sort();
  check(mails.join() === "ada@example.org,l@example.org,p@example.org", `entries are merged: ${mails.join()}`);
  check(seen["notes"] === "phone's" && seen["groupIds"][0] === family, "the first device's value stays");
}
check((await phone.copy.conflicts()).length === 0, "the first device has no conflicts");
const conflicts = await laptop.copy.conflicts();
const notes = conflicts.find((conflict) => conflict.field === "notes");
const deleted = conflicts.find((conflict) => conflict.field === null);
check(notes && notes.mine === "laptop's" && notes.base === null, "a field that both changed is a conflict");
check(deleted && conflicts.length === 2, "an edit of a record that was deleted elsewhere is a conflict");

await laptop.copy.resolve(notes, "mine");
await laptop.copy.resolve(deleted, "mine");
await settle(laptop.copy, phone.copy);
check((await named(phone.copy, "Ada"))["notes"] === "laptop's", "a conflict is resolved");
check((await named(phone.copy, "Carl"))["notes"] === "kept", "a deleted record is restored");

// Restoring a record does not overwrite a change that the user had not seen before its deletion.
await phone.copy.update("person", carl, { notes: "unseen" });
await phone.copy.sync();
await phone.copy.delete("person", carl);
await phone.copy.sync();
await laptop.copy.update("person", carl, { notes: "laptop's" });
await Promise.all([laptop.copy.sync(), laptop.copy.sync()]);
const [gone, ...others] = await laptop.copy.conflicts();
check(gone && others.length === 0, "two concurrent syncs run one after the other");
await laptop.copy.resolve(gone, "mine");
await settle(laptop.copy, phone.copy);
const [unseen] = await laptop.copy.conflicts();
check((await named(phone.copy, "Carl"))["notes"] === "unseen" && unseen?.mine === "laptop's", "the unseen value stays, and the other is a conflict");
await laptop.copy.resolve(unseen, "theirs");

// A date whose title both changed is then deleted.
const [date] = await laptop.copy.all("importantDate");
const born = String(date?.["id"]);
await phone.copy.update("importantDate", born, { title: "phone's" });
await laptop.copy.update("importantDate", born, { title: "laptop's" });
await settle(phone.copy, laptop.copy);
await phone.copy.delete("importantDate", born);
await settle(phone.copy, laptop.copy);
const [title] = await laptop.copy.conflicts();
check(title?.field === null, "a conflict about a field becomes one about the record");
await laptop.copy.resolve(title, "mine");
await settle(laptop.copy, phone.copy);
check((await phone.copy.get("importantDate", born))?.["title"] === "laptop's", "a date is restored with its edit");

// An edit that is extended while it is about to be sent.
await phone.copy.update("person", ada, { notes: "first" });
const pushed = phone.copy.push();
await phone.copy.update("person", ada, { notes: "second", organization: "Engines" });
await pushed;
await settle(phone.copy, laptop.copy);
const grown = await named(laptop.copy, "Ada");
check(grown["notes"] === "second" && grown["organization"] === "Engines", "the extended edit is sent");

const refused = await phone.copy.create("person", { name: "Eve", emails: [{ email: "no address" }] });
phone.network.method = "POST";
phone.network.losses = 1;
await phone.copy.create("person", { name: "Bob" });
await settle(phone.copy, laptop.copy);
const [edit] = await phone.copy.refused();
check(edit?.id === refused && edit.problem !== null, "a refusal is stored with its edit");
await phone.copy.amend(edit, { id: ada }).then(
  () => check(false, "an edit keeps its id"),
  () => undefined,
);
await phone.copy.amend(edit, { emails: [{ email: "eve@example.org" }] });
await settle(phone.copy, laptop.copy);
const names = (await laptop.copy.all("person")).map((person) => person["name"]);
check(names.sort().join() === "Ada,Bob,Carl,Eve", `each once: ${names.join()}`);

// A device that signs in to another account with an unsent edit; the last time also without a cursor.
await phone.copy.update("person", ada, { notes: "nobody else's" });
const another = new Connection(base, othersToken);
for (const work of ["push", "sync", "sync anew"]) {
  if (work === "sync anew") await phone.store.write(["cursor of people", "cursor of the rest"].map((key) => ({ table: "facts", key })));
  const copy = new Copy(phone.store, another);
  await (work === "push" ? copy.push() : copy.sync()).then(
    () => check(false, `another account is refused: ${work}`),
    (error) => check(/another account/.test(String(error)), String(error)),
  );
}
const othersCopy = new Copy(new MemoryStore(), another);
await othersCopy.sync();
check((await othersCopy.all("person")).length === 0, "another account gets nothing");
await settle(phone.copy, laptop.copy);
check((await named(laptop.copy, "Ada"))["notes"] === "nobody else's", "the unsent edit is sent to its own account");
console.log("ok");
