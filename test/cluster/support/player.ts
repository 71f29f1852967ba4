// Players as people have them: at the pace of the film, some seconds ahead, with retries as hls.js and browsers do.
// Each failed request is recorded, and how long the picture stood still.
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { clientFor, type TestClient } from '#support/api.ts';
import { type MediaList, parseMaster, parseMedia, samplesOf } from '#support/hls-validator.ts';

export type Session = Awaited<ReturnType<TestClient['startPlayback']>>['body']['session'];

export interface Viewer {
  url: string;
  headers: Record<string, string>;
}

const AHEAD_MS = 8000;
/** As hls.js retries: so often, so long apart, so long for an answer. */
const TRIES = 40;
const AGAIN_MS = 1000;
const PATIENCE_MS = 10_000;
const REPORT_MS = 5000;
const RANGE = 256 << 10;

abstract class Player {
  readonly viewer: Viewer;
  readonly session: Session;
  /** Requests that failed, with the time, and the faults of answers. */
  readonly faults: string[] = [];
  protected readonly leaving = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #reporting: Promise<void> = Promise.resolve();
  /** When the film would have begun, were it never interrupted. */
  #beganAt = 0;
  #bufferedMs = 0;
  #longestMs = 0;

  constructor(viewer: Viewer, session: Session) {
    this.viewer = viewer;
    this.session = session;
  }

  /** Fetches the parts of the film in their order; passes each to {@link got}. */
  protected abstract fetchAll(): Promise<void>;

  start(): this {
    this.#running = this.fetchAll().catch((error: Error) => {
      if (!this.leaving.signal.aborted) this.faults.push(`ended: ${error.message}`);
    });
    this.#reporting = this.#report();
    return this;
  }

  async stop(): Promise<void> {
    this.leaving.abort();
    await Promise.all([this.#running, this.#reporting]);
    await clientFor(this.viewer.url, this.viewer.headers)
      .endPlaybackSession({ params: { id: this.session.id } })
      .catch(() => undefined);
  }

  /** The film that is available. */
  get bufferedMs(): number {
    return this.#bufferedMs;
  }

  get positionMs(): number {
    return this.#beganAt === 0 ? 0 : Math.min(this.#bufferedMs, Date.now() - this.#beganAt);
  }

  /** Longest time that the picture stood still since {@link calm}, that which lasts included. */
  get stallMs(): number {
    const waits = this.#beganAt === 0 ? 0 : Date.now() - this.#beganAt - this.#bufferedMs;
    return Math.max(this.#longestMs, waits);
  }

  calm(): void {
    this.#longestMs = 0;
    this.faults.length = 0;
  }

  /** So much more of the film has come; rests until more is needed. */
  protected async got(ms: number): Promise<void> {
    this.#beganAt ||= Date.now();
    const late = Date.now() - this.#beganAt - this.#bufferedMs;
    if (late > 0) {
      this.#longestMs = Math.max(this.#longestMs, late);
      this.#beganAt += late;
    }
    this.#bufferedMs += ms;
    const rest = this.#bufferedMs - AHEAD_MS - (Date.now() - this.#beganAt);
    if (rest > 0) await sleep(rest, undefined, { signal: this.leaving.signal });
  }

  protected async get(path: string, headers: Record<string, string> = {}): Promise<Buffer> {
    for (let n = 0; n < TRIES && !this.leaving.signal.aborted; n += 1) {
      if (n > 0) await sleep(AGAIN_MS, undefined, { signal: this.leaving.signal });
      const sentAt = Date.now();
      try {
        const signal = AbortSignal.any([this.leaving.signal, AbortSignal.timeout(PATIENCE_MS)]);
        const answer = await fetch(this.viewer.url + path, { headers: { ...this.viewer.headers, ...headers }, signal });
        const bytes = Buffer.from(await answer.arrayBuffer());
        if (answer.ok) return bytes;
        this.#failed(path, sentAt, `${answer.status} ${bytes.toString('utf8', 0, 300)}`);
      } catch (error) {
        const { message, cause } = error as { message: string; cause?: { code?: string; message?: string } };
        this.#failed(path, sentAt, `${message} ${cause?.code ?? ''} ${cause?.message ?? ''}`);
      }
    }
    throw new Error(`${path}: in vain`);
  }

  #failed(path: string, sentAt: number, what: string): void {
    if (this.leaving.signal.aborted) return;
    this.faults.push(`${new Date(sentAt).toISOString()} ${path} after ${Date.now() - sentAt} ms: ${what}`);
  }

  async #report(): Promise<void> {
    const { signal } = this.leaving;
    const client = clientFor(this.viewer.url, this.viewer.headers);
    for (; !signal.aborted; await sleep(REPORT_MS, undefined, { signal }).catch(() => undefined)) {
      const body = { state: 'playing', positionMs: Math.round(this.positionMs) };
      const sentAt = Date.now();
      const answer = await client
        .reportPlayback({ params: { id: this.session.id }, body })
        .then(({ status }) => String(status))
        .catch((error: Error) => error.message);
      if (answer !== '200') this.#failed('report', sentAt, answer);
    }
  }
}

/** Segments of picture and sound, each looked at. */
export class HlsPlayer extends Player {
  protected async fetchAll(): Promise<void> {
    const base = this.session.url.replace(/master\.m3u8.*/, '');
    const { lists } = parseMaster((await this.get(`${base}master.m3u8`)).toString(), this.faults);
    const chosen = [lists.find(({ kind }) => kind === 'video'), lists.find(({ kind }) => kind === 'audio')];
    const media: { list: MediaList; init: Buffer }[] = [];
    for (const one of chosen) {
      if (!one) continue;
      const list = parseMedia((await this.get(base + one.path)).toString(), one.path, this.faults);
      media.push({ list, init: await this.get(base + (list.map ?? '')) });
    }
    const [first] = media;
    for (const [n, { seconds }] of (first?.list.segments ?? []).entries()) {
      await Promise.all(media.map(({ list, init }) => this.#segment(base, list.segments[n]?.uri, init)));
      await this.got(seconds * 1000);
    }
  }

  async #segment(base: string, uri: string | undefined, init: Buffer): Promise<void> {
    if (uri === undefined) return;
    const bytes = await this.get(base + uri);
    if (samplesOf(init, bytes).length === 0) this.faults.push(`${uri} holds nothing`);
  }
}

/** The file as it is, by ranges, each compared with the file that it should be. */
export class RangePlayer extends Player {
  readonly #source: string;
  readonly #durationMs: number;

  constructor(viewer: Viewer, session: Session, film: { source: string; durationMs: number }) {
    super(viewer, session);
    this.#source = film.source;
    this.#durationMs = film.durationMs;
  }

  protected async fetchAll(): Promise<void> {
    const { size } = statSync(this.#source);
    const file = openSync(this.#source, 'r');
    try {
      for (let at = 0; at < size; at += RANGE) {
        const expected = Buffer.alloc(Math.min(RANGE, size - at));
        readSync(file, expected, 0, expected.length, at);
        const bytes = await this.get(this.session.url, { range: `bytes=${at}-${at + expected.length - 1}` });
        if (!bytes.equals(expected)) this.faults.push(`other bytes at ${at}`);
        await this.got((this.#durationMs * expected.length) / size);
      }
    } finally {
      closeSync(file);
    }
  }
}
