// A client of the contact network service that also works offline (docs/clients.md).
export { Connection, type RequestOptions } from "./connection.ts";
export { Copies, type Unsent, unsentFile } from "./copies.ts";
export { Copy } from "./copy.ts";
export { OtherAccountError, RefusedError } from "./errors.ts";
export type { ServerEvent } from "./events.ts";
export type { Progress, ReadOptions } from "./feedReader.ts";
export { newId } from "./ids.ts";
export { IndexedDbStore } from "./indexedDbStore.ts";
export type { AcceptOptions, DeleteOptions, DismissOptions, EditableType, NewRecords, Records, RecordType } from "./kinds.ts";
export { LiveTable } from "./liveTable.ts";
export type { Changed, SyncReport } from "./localData.ts";
export { merge, type Clash } from "./merge.ts";
export { displayName, type NamedRecord, type NameSettings } from "./names.ts";
export { isOffline, retryingFetch, type Send } from "./retrying.ts";
export type { components, paths } from "./schema.ts";
export { type EndReason, endReason, Session } from "./session.ts";
export { type BegunSignIn, beginSignIn, type Credentials, finishSignIn, signIn } from "./signIn.ts";
export {
  MemoryStore,
  type Change,
  type Conflict,
  type Edit,
  type Fields,
  type LockName,
  type RecordRow,
  type Selection,
  type Store,
} from "./store.ts";
export { Syncer, type SyncState } from "./syncer.ts";
