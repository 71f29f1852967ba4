import { segmentCount } from '#areas/streaming/public.ts';
import { announceReady } from '#areas/streaming/sessions/offers.store.ts';
import type { SessionRow } from '#areas/streaming/sessions/sessions.store.ts';
import { failSession, releaseSession, renewSession } from '#areas/streaming/sessions/sessions.store.ts';
import type { Db } from '#platform/db.ts';
import { DiskFull } from '#platform/disk.ts';
import type { Log } from '#platform/log.ts';
import type { Objects } from '#platform/objects.ts';
import type { Redis } from '#platform/redis.ts';
import { type Encoder, SOFTWARE } from './encoders.ts';
import { Encoding } from './encoding.ts';
import { Breath, faultOf, mustRestart, shouldRest, type Wanted, Wants } from './head.ts';
import { SessionTexts, WordsUnreadable } from './words.ts';

export interface SessionDeps {
  db: Db;
  redis: Redis;
  objects: Objects;
  log: Log;
  encoder: Encoder;
  /** Threads of the video encoder; 0 for no limit. */
  threads: number;
  workerId: string;
  /** Times of the file's keyframes, ms. */
  keyframes: readonly number[];
  scratchDir: string;
  /** Absolute path of a file inside a storage; undefined while the storage or the file is unavailable. */
  pathOf(path?: string): Promise<string | undefined>;
}

const BUCKET = 'foyer-transcode';
/** A working encoder that is silent for this long counts as hung. */
const HUNG_MS = 20_000;
/** Timeouts of a session that was never fetched from, and of one that is no longer fetched from. */
const NEVER_FETCHED_MS = 15_000;
const UNFETCHED_MS = 60_000;

/** One session on this worker, from its claim to the end of the lease. */
export class TranscodeSession {
  readonly id: string;
  /** Resolves once the session is released, stopped or failed, and its encoder has exited. */
  readonly over: Promise<void>;
  readonly #row: SessionRow;
  readonly #deps: SessionDeps;
  readonly #claimedAt = Date.now();
  #encoder: Encoder;
  #encoding: Encoding | undefined;
  readonly #texts: SessionTexts;
  #textsBegun = false;
  #textsDone = false;
  readonly #wants: Wants;
  #seenWantAt: number;
  #accessAt: number;
  #video: string | undefined;
  #audio: string | undefined;
  #restarts: number;
  #faults = new Map<number, number>();
  readonly #breath = new Breath();
  #finished = false;
  /** Path of the source. */
  #file: string | undefined;
  #ended = false;
  #starting: Promise<void> = Promise.resolve();
  #finish!: () => void;

  constructor(row: SessionRow, deps: SessionDeps) {
    this.id = row.id;
    this.#row = row;
    this.#deps = deps;
    this.#encoder = deps.encoder;
    this.#texts = new SessionTexts(row.plan, deps);
    this.#restarts = row.restarts;
    this.#seenWantAt = row.wanted_at.getTime();
    this.#accessAt = row.last_access_at?.getTime() ?? 0;
    const { plan } = row;
    const chosen = plan.audio.find((one) => one.default) ?? plan.audio[0];
    this.#video = plan.video[0]?.id;
    this.#audio = chosen?.id;
    const rendition = row.wanted_rendition ?? this.#video ?? this.#audio ?? '';
    this.#wants = new Wants({ rendition, segment: row.wanted_segment });
    this.over = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  /** Starts at the first wanted segment that is not stored; segments of a lost worker are kept. */
  async begin(): Promise<void> {
    const { rendition } = this.#wants.last;
    const { plan } = this.#row;
    const count = segmentCount(plan);
    let segment = Math.max(this.#wants.last.segment, 0);
    while (segment < count && (await this.#isStored({ rendition, segment }))) segment += 1;
    if (segment < count) return this.want({ rendition, segment }, { stored: false });
    const file = await this.#deps.pathOf();
    this.#finished = true;
    if (file) this.#takeTexts(file);
    else await this.release('idle');
  }

  async #isStored({ rendition, segment }: Wanted): Promise<boolean> {
    const type = this.#row.plan.container === 'ts' ? 'ts' : 'm4s';
    const name = segment < 0 ? 'init.mp4' : `${segment}.${type}`;
    return (await this.#deps.objects.stat(BUCKET, `${this.id}/${rendition}/${name}`)) !== undefined;
  }

  get encoding(): Encoding | undefined {
    return this.#encoding;
  }

  /** `stored`: it can be read already, so nothing is encoded. */
  want(wanted: Wanted, { stored }: { stored: boolean }): void {
    if (this.#ended) return;
    this.#accessAt = Date.now();
    this.#breath.end();
    if (wanted.rendition.startsWith('s')) return; // its tracks are extracted from the first start on
    this.#wants.hear(wanted, { stored });
    if (!stored) this.#select(wanted.rendition);
    if (!stored && (this.#finished || mustRestart(this.#encoding, wanted))) {
      this.#restart(wanted.segment < 0 ? this.#wants.last.segment : wanted.segment);
    } else this.#pace();
  }

  /** No one waits for it any more: the encoder pauses if it is far from other requests. */
  withdraw(wanted: Wanted): void {
    this.#wants.withdraw(wanted);
    this.#pace();
  }

  /** Encodes only the fetched renditions: one variant, one audio rendition. */
  #select(rendition: string): void {
    if (rendition.startsWith('v')) this.#video = rendition;
    if (rendition.startsWith('a')) this.#audio = rendition;
  }

  #restart(from: number): void {
    const old = this.#encoding;
    this.#encoding = undefined;
    this.#finished = false;
    if (old) this.#restarts += 1;
    old?.kill(); // before the new one, because two would share the processor
    this.#starting = this.#starting.then(() => this.#start(from)).catch((error: Error) => this.#lost(error));
  }

  async #start(from: number): Promise<void> {
    if (this.#ended || this.#encoding) return;
    const { plan } = this.#row;
    this.#file ??= await this.#deps.pathOf();
    const file = this.#file;
    if (!file) return this.release('idle'); // the next request tries again
    this.#takeTexts(file);
    const words = await this.#texts.burned(this.#video, file);
    if (this.#ended || this.#encoding) return;
    const encoding = new Encoding(
      {
        plan,
        from,
        video: this.#video,
        audio: this.#audio,
        file,
        words,
        keyframes: this.#deps.keyframes,
        encoder: this.#encoder,
        threads: this.#deps.threads,
      },
      { onPiece: (rendition, name, bytes) => this.#store({ rendition, name, bytes }) },
    );
    this.#encoding = encoding;
    void encoding.ended.then((end) => this.#onEnd(encoding, end)).catch((error: Error) => this.#lost(error));
  }

  /** During the first encoding: extracts the text tracks that are not stored yet. */
  #takeTexts(file: string): void {
    if (this.#textsBegun) return;
    this.#textsBegun = true;
    this.#texts
      .take(file)
      .then(() => announceReady(this.#deps.redis, this.id, 'subtitles'))
      .catch((error: Error) => this.#deps.log.warn({ session: this.id, err: error.message }, 'no subtitles'))
      .finally(() => {
        this.#textsDone = true;
        this.#leaveWhenDone();
      });
  }

  async #store({ rendition, name, bytes }: { rendition: string; name: string; bytes: Buffer }): Promise<void> {
    const key = `${this.id}/${rendition}/${name}`;
    const { objects, redis } = this.#deps;
    // Players may hold the first init segment; that of a later run differs only in measured values.
    if (name === 'init.mp4' && (await objects.stat(BUCKET, key))) return;
    await objects.put(BUCKET, key, bytes);
    await announceReady(redis, this.id, `${rendition}/${name}`);
    const segment = Number.parseInt(name, 10);
    this.#wants.made({ rendition, segment });
    this.#pace();
    const picture = this.#row.plan.video.find((one) => one.id === rendition);
    if (picture?.action === 'copy' && segment >= this.#wants.last.segment) await this.#breath.take();
  }

  #pace(): void {
    const encoding = this.#encoding;
    if (!encoding) return;
    const rest = shouldRest(this.#row.plan, encoding, { want: this.#wants.last.segment, resting: encoding.resting });
    if (rest) encoding.rest();
    else encoding.resume();
  }

  #onEnd(encoding: Encoding, end: { code: number | null; words: string; fault: boolean }): void {
    if (this.#encoding !== encoding || this.#ended) return;
    if (end.fault) {
      this.#onFault(encoding, end.words);
      return;
    }
    this.#finished = true;
    this.#encoding = undefined;
    this.#leaveWhenDone();
  }

  /** Everything up to the end is stored: the slot is free for others, and a later request takes one again. */
  #leaveWhenDone(): void {
    if (this.#finished && this.#textsDone) void this.release('idle');
  }

  /** Two faults at the same segment end the session; a fault of a card is tried once more in software. */
  #onFault(encoding: Encoding, words: string): void {
    const segment = Math.min(...encoding.next.values());
    const count = (this.#faults.get(segment) ?? 0) + 1;
    this.#faults.set(segment, count);
    this.#file = undefined; // it may have vanished or moved
    this.#deps.log.warn({ session: this.id, segment, count, words: words.slice(-500) }, 'ffmpeg failed');
    if (count < 2) this.#restart(segment);
    else if (this.#encoder.gpu) {
      this.#encoder = SOFTWARE;
      this.#restart(segment);
    } else void this.#fail(segment, words);
  }

  async #fail(segment: number, words: string): Promise<void> {
    this.#end();
    const reason = faultOf(words);
    await failSession(this.#deps.db, this.id, { code: 'TRANSCODE_FAILED', reason, segment }).catch(() => undefined);
    await announceReady(this.#deps.redis, this.id, 'failed');
  }

  #lost(error: Error): void {
    this.#deps.log.warn({ session: this.id, err: error.message }, 'session given back');
    if (error instanceof WordsUnreadable) void this.#fail(this.#wants.last.segment, `filter: ${error.message}`);
    else void this.release(error instanceof DiskFull ? 'idle' : 'starting'); // no other worker has more space
  }

  /** Each 3 seconds: renews the lease, reads requests that Redis lost, and releases idle sessions. */
  async renew(): Promise<void> {
    const encoding = this.#encoding;
    if (encoding && !encoding.resting && performance.now() - encoding.lastBytesAt > HUNG_MS) encoding.giveUp();
    const row = await renewSession(this.#deps.db, {
      id: this.id,
      holder: this.#deps.workerId,
      renewal: { state: encoding?.resting ? 'idle' : 'running', speed: encoding?.speed, restarts: this.#restarts },
    });
    if (!row) return this.#end();
    await this.#hear(row);
    if (this.#unfetched(row)) await this.release('idle');
  }

  #unfetched(row: SessionRow): boolean {
    this.#accessAt = Math.max(this.#accessAt, row.last_access_at?.getTime() ?? 0);
    const since = Date.now() - Math.max(this.#accessAt, this.#claimedAt);
    return since > (row.last_access_at === null ? NEVER_FETCHED_MS : UNFETCHED_MS);
  }

  /** A request that came only through the row: passed to the encoder if the segment is still missing. */
  async #hear(row: SessionRow): Promise<void> {
    if (row.wanted_at.getTime() <= this.#seenWantAt) return;
    this.#seenWantAt = row.wanted_at.getTime();
    if (row.wanted_rendition === null) return; // withdrawn in the meantime
    const wanted = { rendition: row.wanted_rendition, segment: row.wanted_segment };
    this.want(wanted, { stored: await this.#isStored(wanted) });
  }

  /** Releases the lease: `starting` for another worker at once, `idle` until the next request. */
  async release(state: 'starting' | 'idle'): Promise<void> {
    if (this.#ended) return;
    this.#end();
    const heardAt = new Date(this.#seenWantAt);
    await releaseSession(this.#deps.db, { id: this.id, holder: this.#deps.workerId, state, heardAt }).catch(
      () => undefined,
    );
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#breath.end();
    const encoding = this.#encoding;
    this.#encoding = undefined;
    encoding?.kill();
    this.#texts.end();
    void (encoding?.ended ?? Promise.resolve()).catch(() => undefined).then(() => this.#finish());
  }
}
