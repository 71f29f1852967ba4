import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { unseal } from '#platform/keys.ts';
import { moveStream } from '#platform/live/streams.store.ts';
import type { KeeperDeps } from './deps.ts';
import type { SourceAddress } from './reader.ts';
import { Reception } from './reception.ts';
import { claimStream, type OpenStream, openStreams, releaseStream } from './streams.store.ts';

const Secrets = z.looseObject({ headers: z.record(z.string(), z.string()).default({}) });

interface Running {
  row: OpenStream;
  epoch: number;
  reception: Reception;
  over: Promise<void>;
}

/** How long a source that fails at once is left alone. */
const PAUSES_MS = [0, 500, 1000, 2000, 5000];

/** After the database was unavailable, viewers mark their streams again within this time. */
const RENEWED_MS = 20_000;

/** For the last bytes of a source that is silent. */
const LEAVE_MS = 1500;

/** Receives what the open rows of its tuner name. Postgres is the truth: each look compares the rows with what runs. */
export class StreamKeeper {
  readonly #deps: KeeperDeps;
  #releasedAt = 0;
  readonly #running = new Map<string, Running>();
  /** Failures in a row of a stream, and when it may be tried again. */
  readonly #failures = new Map<string, { count: number; until: number }>();
  /** When the rows could not be read last. */
  #unreadAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;
  #again = false;
  #stopped = false;

  constructor(deps: Omit<KeeperDeps, 'releasedAt'>) {
    this.#deps = { ...deps, releasedAt: () => this.#releasedAt };
  }

  /** The slots in use. Their quality is that of the time since the last call. */
  takeSlots(): { index: number; bitrate: number | undefined; quality: number | undefined }[] {
    return [...this.#running.values()].map(({ row, reception }) => ({
      index: row.slot,
      bitrate: reception.bitrate,
      quality: reception.takeQuality(),
    }));
  }

  /** Looks now, and once more if something changed meanwhile. */
  look(): Promise<void> {
    this.#again = true;
    this.#looking ??= this.#looks().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** Ends every reception; the rows stay open for the process that has the tuner now. */
  async rest(): Promise<void> {
    await this.#end([...this.#running.values()]);
  }

  /** Rests for good, with everything that was received so far. */
  async leave(): Promise<void> {
    this.#stopped = true;
    const running = [...this.#running.values()];
    for (const { reception } of running) reception.leave();
    const ended = Promise.all(running.map(({ over }) => over));
    await Promise.race([ended, sleep(LEAVE_MS, undefined, { ref: false })]);
    await this.rest();
  }

  async #looks(): Promise<void> {
    while (this.#again && !this.#stopped) {
      this.#again = false;
      await this.#lookOnce().catch((error: Error) => this.#deps.log.warn({ err: error.message }, 'streams not read'));
    }
  }

  async #lookOnce(): Promise<void> {
    const { db, tunerId, releaseSec } = this.#deps;
    const rows = await openStreams(db, tunerId, releaseSec()).catch((error: unknown) => {
      this.#unreadAt = performance.now();
      throw error;
    });
    const wanted: OpenStream[] = [];
    const isRenewing = performance.now() - this.#unreadAt < RENEWED_MS;
    for (const row of rows) {
      const isIdle = !row.wanted && !isRenewing;
      const isReleased = isIdle && (await releaseStream(db, row.id, { tunerId, releaseSec: releaseSec() }));
      if (!isReleased) wanted.push(row);
    }
    const byId = new Map(wanted.map((row) => [row.id, row]));
    // Slots are free again before another channel takes them.
    await this.#end([...this.#running.values()].filter(({ row, epoch }) => byId.get(row.id)?.epoch !== epoch));
    for (const row of wanted) if (!this.#running.has(row.id)) await this.#begin(row);
  }

  async #end(running: readonly Running[]): Promise<void> {
    for (const { reception } of running) reception.stop();
    await Promise.all(running.map(({ over }) => over));
    if (running.length > 0) this.#releasedAt = Date.now();
  }

  async #begin(row: OpenStream): Promise<void> {
    if (this.#stopped || (this.#failures.get(row.id)?.until ?? 0) > Date.now()) return;
    const epoch = await claimStream(this.#deps.db, row);
    if (epoch === undefined) return;
    const source = this.#sourceOf(row);
    const reception = new Reception({ streamId: row.id, channelId: row.channel_id, epoch, source }, this.#deps);
    const running = { row, epoch, reception, over: Promise.resolve() };
    running.over = this.#run(running);
    this.#running.set(row.id, running);
  }

  async #run({ row, epoch, reception }: Omit<Running, 'over'>): Promise<void> {
    const reason = await reception.run();
    this.#running.delete(row.id);
    if (reason === undefined) return;
    this.#noteFailure(row.id, reception.isLive);
    await this.#deps.db
      .transaction((transaction) => moveStream(transaction, { id: row.id, epoch }, reason))
      .catch((error: Error) => this.#deps.log.warn({ err: error.message }, 'stream not moved'));
    void this.look();
  }

  #noteFailure(id: string, wasLive: boolean): void {
    const count = wasLive ? 2 : (this.#failures.get(id)?.count ?? 0) + 1;
    const pause = PAUSES_MS[Math.min(count - 1, PAUSES_MS.length - 1)] ?? 0;
    this.#failures.set(id, { count, until: Date.now() + pause });
    setTimeout(() => void this.look(), pause).unref();
    if (this.#failures.size > 100) this.#failures.delete([...this.#failures.keys()][0] ?? '');
  }

  #sourceOf(row: OpenStream): SourceAddress {
    const { keys } = this.#deps;
    const url = row.address && row.source_id && unseal(keys, row.address, `live_sources|address|${row.source_id}`);
    const text = row.secrets && unseal(keys, row.secrets, `live_tuners|secrets|${this.#deps.tunerId}`);
    const secrets = Secrets.safeParse(text ? JSON.parse(text) : {}).data;
    return { url: url || '', headers: secrets?.headers ?? {}, userAgent: row.user_agent ?? undefined };
  }
}
