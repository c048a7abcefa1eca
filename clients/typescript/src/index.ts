// A client of the contact network service that also works offline (docs/clients.md).
export {
  type BegunSignIn,
  beginSignIn,
  Connection,
  finishSignIn,
  RefusedError,
  retryingFetch,
  signIn,
} from "./connection.ts";
export { Copy, type SyncReport } from "./copy.ts";
export { newId } from "./ids.ts";
export { IndexedDbStore } from "./indexedDbStore.ts";
export { merge, type Clash } from "./merge.ts";
export type { components, paths } from "./schema.ts";
export { MemoryStore, type Change, type Conflict, type Edit, type Fields, type LockName, type Store } from "./store.ts";
