// Keeps a copy current in a browser: syncs at the start, after edits, when the network or the user is back, and after changes
// elsewhere, of which one tab of the browser is told by a stream.
import type { Connection } from "./connection.ts";
import type { Copy } from "./copy.ts";
import type { Progress } from "./feedReader.ts";
import { OtherAccountError, RefusedError } from "./errors.ts";
import { isOffline, pause } from "./retrying.ts";

const EDIT_DELAY_MILLISECONDS = 300;
const HELD_MILLISECONDS = 50; // later, so that the time has come
const MIN_PAUSE_MILLISECONDS = 2_000;
const MAX_PAUSE_MILLISECONDS = 5 * 60_000;
// A stream that has lasted so long works; it is opened again at once when it ends.
const LASTING_MILLISECONDS = 20_000;

export interface SyncState {
  phase: "idle" | "syncing" | "offline" | "failed";
  progress: Progress | null; // of the first reading
  error: unknown;
  syncedAt: Date | null;
}

export class Syncer {
  readonly #copy: Copy;
  readonly #connection: Connection;
  readonly #name: string;
  readonly #onState: (state: SyncState) => void;
  readonly #ended = new AbortController();
  #state: SyncState = { phase: "idle", progress: null, error: null, syncedAt: null };
  #isRunning = false;
  #isWanted = false;
  #hasChanged = false; // elsewhere, since the running sync began
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  // `name` is that of the store: of all tabs with the same name, one has the stream.
  constructor(copy: Copy, connection: Connection, name: string, onState: (state: SyncState) => void) {
    this.#copy = copy;
    this.#connection = connection;
    this.#name = name;
    this.#onState = onState;
  }

  start(): void {
    const { signal } = this.#ended;
    const unsubscribe = this.#copy.subscribe(({ by }) => {
      if (by === "user") this.#syncIn(EDIT_DELAY_MILLISECONDS);
    });
    signal.addEventListener("abort", unsubscribe);
    addEventListener("online", () => this.syncNow(), { signal });
    addEventListener("offline", () => this.#tell({ phase: "offline" }), { signal });
    document.addEventListener("visibilitychange", () => !document.hidden && this.syncNow(), { signal });
    void this.#watchWhileVisible();
    this.syncNow();
  }

  stop(): void {
    this.#ended.abort();
    clearTimeout(this.#timer);
  }

  // Syncs, or once more if a sync is running.
  syncNow(): void {
    this.#isWanted = true;
    if (!this.#isRunning) void this.#run();
  }

  // Syncs after an event of the stream. While syncs fail, the next one waits all the same, and reads the change, too; but
  // the first event of a connection says that the service is back.
  #syncAfterEvent(isFirst: boolean): void {
    if (this.#isRunning) this.#hasChanged = true;
    else if (isFirst || this.#failures === 0) this.syncNow();
  }

  #syncIn(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.syncNow(), milliseconds);
  }

  #tell(change: Partial<SyncState>): void {
    this.#state = { ...this.#state, ...change };
    this.#onState(this.#state);
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#isWanted && !this.#ended.signal.aborted) {
      this.#isWanted = false;
      this.#hasChanged = false;
      this.#tell({ phase: "syncing" });
      try {
        const onProgress = (progress: Progress) => this.#tell({ progress });
        await this.#copy.sync({ onProgress, signal: this.#ended.signal });
        this.#failures = 0;
        this.#isWanted ||= this.#hasChanged;
        this.#tell({ phase: "idle", progress: null, error: null, syncedAt: new Date() });
        await this.#waitForHeld();
      } catch (error) {
        if (this.#ended.signal.aborted) break;
        this.#failures++;
        this.#tell({ phase: isOffline() || error instanceof TypeError ? "offline" : "failed", error });
        // When the network is back, or somebody has signed in, the sync begins at once.
        const isEnded = error instanceof OtherAccountError || (error instanceof RefusedError && error.status === 401);
        const retryAfter = error instanceof RefusedError ? (error.retryAfter ?? 0) * 1000 : 0;
        if (!isEnded) this.#syncIn(Math.max(retryAfter, this.#backoff()));
      }
    }
    this.#isRunning = false;
  }

  // What is held is sent once its time has come.
  async #waitForHeld(): Promise<void> {
    const held = (await this.#copy.pending()).flatMap(({ heldUntil }) => heldUntil ?? []);
    if (held.length) this.#syncIn(Math.max(0, Math.min(...held) - Date.now()) + HELD_MILLISECONDS);
  }

  #backoff(): number {
    return Math.min(MIN_PAUSE_MILLISECONDS * 2 ** Math.min(this.#failures, 10), MAX_PAUSE_MILLISECONDS) * (0.5 + Math.random());
  }

  // A tab waits for the stream of the browser only while it is visible, so that the tab that has it is not suspended.
  async #watchWhileVisible(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      await becomesVisible(this.#ended.signal);
      const hidden = new AbortController();
      const hide = () => document.hidden && hidden.abort();
      document.addEventListener("visibilitychange", hide);
      const signal = AbortSignal.any([hidden.signal, this.#ended.signal]);
      // Without Web Locks (on pages loaded over plain http) each visible tab has a stream.
      const locks: LockManager | undefined = navigator.locks;
      const watching = locks
        ? locks.request(`${this.#name} stream`, { signal }, () => this.#watch(signal))
        : this.#watch(signal);
      await watching.catch(() => undefined); // aborted while it waited for the lock
      document.removeEventListener("visibilitychange", hide);
    }
  }

  // Reads the stream and opens it again until aborted, ever later where it never lasts, as behind some proxies. It ends with
  // the session, too: the sync notices that. Syncs after each event. The first one of a connection comes once the stream is
  // open, so what changed while there was none is read then, and whatever changes later has an event of its own.
  async #watch(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      const openedAt = Date.now();
      try {
        let isFirst = true;
        for await (const _ of this.#connection.revisions({ signal })) {
          this.#syncAfterEvent(isFirst);
          isFirst = false;
        }
        if (Date.now() - openedAt > LASTING_MILLISECONDS) failures = 0;
      } catch (error) {
        if (error instanceof RefusedError && error.status === 401) failures = 10;
      }
      failures++;
      await pause(Math.min(1000 * 2 ** failures, 60_000) * (0.5 + Math.random()), signal);
    }
  }
}

function becomesVisible(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (!document.hidden || signal.aborted) return done();
    const look = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener("visibilitychange", look);
      done();
    };
    document.addEventListener("visibilitychange", look);
    signal.addEventListener("abort", look, { once: true });
  });
}
