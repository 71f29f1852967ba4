import { readlinkSync } from 'node:fs';
import { openMedia } from '#areas/storage/public.ts';
import { findPlaces, findSource, findTrackPlace } from '#areas/streaming/public.ts';
import { forgetWorker, OFFERS, reportWorker, type Want, wantChannel } from '#areas/streaming/sessions/offers.store.ts';
import {
  claimOpenSession,
  claimSession,
  freeDeadWorkers,
  markPurged,
  type SessionRow,
  sessionsToPurge,
  sweepSessions,
  type WorkerInfo,
} from '#areas/streaming/sessions/sessions.store.ts';
import { countUnopened, forgetUnopened } from '#areas/streaming/sessions/unopened.store.ts';
import type { Config } from '#platform/config.ts';
import type { Db } from '#platform/db.ts';
import { claimRendition, sweepRenditions } from '#platform/live/renditions.store.ts';
import type { Log } from '#platform/log.ts';
import type { Objects } from '#platform/objects.ts';
import type { Redis } from '#platform/redis.ts';
import type { Encoder } from './encoders.ts';
import { LiveRendition } from './live/rendition.ts';
import { TranscodeSession } from './session.ts';

export interface WorkerDeps {
  config: Config;
  db: Db;
  redis: Redis;
  objects: Objects;
  log: Log;
  encoder: Encoder;
  /** Threads of the video encoder; 0 for no limit. */
  threads: number;
}

const GROUP = 'workers';
const RENEW_MS = 3000;
const LOOK_MS = 2000;
const SWEEP_MS = 15_000;

/** Serves up to `maxSessions` sessions; offers arrive by Redis, and from the rows while it is unavailable. */
export class TranscodeWorker {
  readonly #deps: WorkerDeps;
  readonly #info: WorkerInfo;
  readonly #sessions = new Map<string, TranscodeSession>();
  readonly #renditions = new Map<string, LiveRendition>();
  readonly #listener: Redis;
  readonly #offers: Redis;
  readonly #timers: NodeJS.Timeout[] = [];
  #stopping = false;
  #idleSince: number | null = null;
  /** Claims in progress, so that slots are not promised twice. */
  #claiming = 0;

  constructor(deps: WorkerDeps) {
    this.#deps = deps;
    const id = `${deps.config.pod}-${process.pid}`;
    const gpu = deps.encoder.gpu ? { gpu: deps.encoder.name } : {};
    const pids = readlinkSync('/proc/self/ns/pid');
    this.#info = { id, node: deps.config.node, encoder: deps.encoder.name, ...gpu, pid: process.pid, pids };
    this.#listener = deps.redis.duplicate({ commandTimeout: 5000, enableOfflineQueue: true });
    this.#offers = deps.redis.duplicate({ commandTimeout: 5000, enableOfflineQueue: true });
    for (const redis of [this.#listener, this.#offers]) redis.on('error', () => undefined); // reported by the first connection
    this.#listener.on('message', (channel: string, text: string) => this.#onMessage(channel, text));
  }

  get sessions(): ReadonlyMap<string, TranscodeSession> {
    return this.#sessions;
  }

  start(): void {
    this.#every(RENEW_MS, () => this.#renew());
    this.#every(LOOK_MS, () => this.#look());
    this.#every(SWEEP_MS, () => this.sweep());
    void this.#takeOffers();
    void this.#renew().catch(() => undefined);
    void this.#look().catch(() => undefined);
  }

  /** Releases every session to other workers and ends. */
  async stop(): Promise<void> {
    this.#stopping = true;
    for (const timer of this.#timers) clearInterval(timer);
    const open = [...this.#sessions.values()];
    const renditions = [...this.#renditions.values()];
    for (const rendition of renditions) rendition.stop();
    await Promise.all(open.map((session) => session.release('starting')));
    await Promise.all([...open, ...renditions].map(({ over }) => over));
    await forgetWorker(this.#deps.redis, this.#info.id);
    this.#listener.disconnect();
    this.#offers.disconnect();
  }

  #every(ms: number, work: () => Promise<void>): void {
    let busy = false;
    const timer = setInterval(() => {
      if (busy) return;
      busy = true;
      work()
        .catch((error: Error) => this.#deps.log.warn({ err: error.message }, 'transcode worker'))
        .finally(() => {
          busy = false;
        });
    }, ms);
    this.#timers.push(timer);
  }

  get #free(): number {
    return this.#stopping ? 0 : this.#deps.config.maxSessions - this.#used;
  }

  get #used(): number {
    return this.#sessions.size + this.#renditions.size + this.#claiming;
  }

  async #takeOffers(): Promise<void> {
    let grouped = false;
    while (!this.#stopping) {
      try {
        if (!grouped) await this.#joinGroup();
        grouped = true;
        const id = this.#free > 0 ? await this.#nextOffer() : await pause(200);
        if (id && !(await this.#claim((holder) => claimSession(this.#deps.db, id, holder)))) await this.#claimLive(id);
      } catch {
        grouped = false; // Redis lost its data or is unavailable: the rows are read in the meantime
        await pause(500);
      }
    }
  }

  async #joinGroup(): Promise<void> {
    await this.#offers.xgroup('CREATE', OFFERS, GROUP, '$', 'MKSTREAM').catch((error: Error) => {
      if (!error.message.startsWith('BUSYGROUP')) throw error;
    });
  }

  async #nextOffer(): Promise<string | undefined> {
    const answer = (await this.#offers.xreadgroup(
      ...(['GROUP', GROUP, this.#info.id, 'COUNT', 1, 'BLOCK', 1000, 'NOACK', 'STREAMS', OFFERS, '>'] as const),
    )) as [string, [string, string[]][]][] | null;
    return answer?.[0]?.[1][0]?.[1][1];
  }

  /** Unclaimed rows: lost by a dead worker, or offered while Redis was unavailable. */
  async #look(): Promise<void> {
    await freeDeadWorkers(this.#deps.db, this.#info, isAlive);
    while (this.#free > 0 && (await this.#claim((holder) => claimOpenSession(this.#deps.db, holder))));
    while (this.#free > 0 && (await this.#claimLive()));
  }

  async #claim(claim: (holder: WorkerInfo) => Promise<SessionRow | undefined>): Promise<boolean> {
    this.#claiming += 1;
    try {
      const row = await claim(this.#info);
      if (row) await this.#open(row);
      return row !== undefined;
    } finally {
      this.#claiming -= 1;
    }
  }

  /** A rendition of a channel: the offered one, or any that waits. */
  async #claimLive(id?: string): Promise<boolean> {
    const { db, redis, objects, log, encoder, threads } = this.#deps;
    const workerId = this.#info.id;
    this.#claiming += 1;
    try {
      const row = await claimRendition(db, workerId, id);
      if (!row) return false;
      const rendition = new LiveRendition(row, { db, redis, objects, log, encoder, threads, workerId });
      this.#renditions.set(row.id, rendition);
      void rendition.over.then(() => this.#renditions.delete(row.id));
      return true;
    } finally {
      this.#claiming -= 1;
    }
  }

  async #open(row: SessionRow): Promise<void> {
    const { db, redis, objects, log, encoder, threads, config } = this.#deps;
    const file = await findSource(db, row.file_id);
    const session = new TranscodeSession(row, {
      ...{ db, redis, objects, log, encoder, threads, workerId: this.#info.id },
      keyframes: file?.keyframes ?? [],
      scratchDir: config.scratchDir,
      pathOf: async (path) => {
        const fileId = row.file_id;
        const place = path ? await findTrackPlace(db, { fileId, path }) : (await findPlaces(db, [fileId])).get(fileId);
        const found = place && (await openMedia({ db, config }, place));
        const absolute = found?.kind === 'there' ? found.absolute : undefined;
        if (path === undefined) await (absolute === undefined ? countUnopened : forgetUnopened)(db, row.id);
        return absolute;
      },
    });
    this.#sessions.set(row.id, session);
    await this.#listener.subscribe(wantChannel(row.id)).catch(() => undefined);
    void session.over.then(async () => {
      this.#sessions.delete(row.id);
      await this.#listener.unsubscribe(wantChannel(row.id)).catch(() => undefined);
    });
    await session.begin().catch(() => session.release('starting'));
  }

  #onMessage(channel: string, text: string): void {
    const session = [...this.#sessions.values()].find((one) => wantChannel(one.id) === channel);
    if (!session) return;
    if (text === 'stop') void session.renew().catch(() => undefined);
    else {
      const { rendition, segment, stored = false, withdrawn = false } = JSON.parse(text) as Want;
      if (withdrawn) session.withdraw({ rendition, segment });
      else session.want({ rendition, segment }, { stored });
    }
  }

  async #renew(): Promise<void> {
    await this.#report();
    const held = [...this.#sessions.values(), ...this.#renditions.values()];
    await Promise.all(held.map((one) => one.renew()));
  }

  async #report(): Promise<void> {
    const { config, encoder, redis } = this.#deps;
    const used = this.#used;
    if (used > 0) this.#idleSince = null;
    else this.#idleSince ??= Date.now();
    const { name, gpu } = encoder;
    const report = { pod: config.pod, encoder: name, gpu, slots: config.maxSessions, used };
    await reportWorker(redis, this.#info.id, { ...report, idleSince: this.#idleSince });
  }

  /** Ends idle sessions, and deletes the segments of sessions that ended a minute ago. Any worker may do it. */
  async sweep(): Promise<void> {
    const { db, objects } = this.#deps;
    await sweepSessions(db);
    await sweepRenditions(db);
    for (const id of await sessionsToPurge(db)) {
      await objects.removePrefix('foyer-transcode', `${id}/`);
      await markPurged(db, id);
    }
  }
}

const pause = (ms: number): Promise<undefined> => new Promise((resolve) => setTimeout(resolve, ms, undefined));

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
