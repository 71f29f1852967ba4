import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LiveSegment, listSegments, segmentEnd } from '#platform/live/segments.ts';
import type { StreamFault } from '#platform/live/streams.store.ts';
import type { ProbedStream } from '#platform/media.ts';
import { LiveCaptions } from './captions.ts';
import { StreamCopy } from './copying.ts';
import { LiveCutter, type Piece, TARGET_MS } from './cutter.ts';
import type { KeeperDeps } from './deps.ts';
import { factsOf } from './facts.ts';
import { SourceFault } from './fault.ts';
import { PacketCounter } from './losses.ts';
import { StreamNotes } from './notes.ts';
import { openFreed, type Reading, type SourceAddress } from './reader.ts';

/** Time to the first bytes after the head of the response. */
const FIRST_BYTES_MS = 5000;
/** A clock of the broadcast that differs by more is set again. */
const DRIFT_MS = 8000;
/** The first segments may be too short to probe. */
const PROBES = 3;
/** A file in place of a broadcast comes as fast as its network; a list of HLS begins with its last segments. */
const MOST_AHEAD_MS = 60_000;
/** Pieces that wait for the disk. */
const MOST_WAITING = 4;
const LONGEST_PIECE_MS = 10_000; // also where the clock of the broadcast jumps

export interface Attempt {
  streamId: string;
  channelId: string;
  epoch: number;
  source: SourceAddress;
}

/** One attempt to receive a channel from one source, until it fails or is stopped. */
export class Reception {
  readonly #attempt: Attempt;
  readonly #deps: KeeperDeps;
  readonly #stop = new AbortController();
  #last: LiveSegment | undefined;
  #made: LiveSegment | undefined;
  #next: Omit<LiveSegment, 'startMs' | 'durationMs' | 'bytes'> | undefined;
  #begun: Promise<void> = Promise.resolve();
  #receivedAt = 0;
  #heardAt = 0;
  #probes = 0;
  readonly #packets = new PacketCounter();
  readonly #notes: StreamNotes;
  #live = false;
  /** The source ended, and ffmpeg ends with it. */
  #ending = false;
  #leaving = false;
  #writes: Promise<void> = Promise.resolve();
  #waiting = 0;
  /** Length of the pieces so far, and when the first one came. */
  #cutMs = 0;
  #cutSince = 0;
  #fault: Error | undefined;

  constructor(attempt: Attempt, deps: KeeperDeps) {
    this.#attempt = attempt;
    this.#deps = deps;
    this.#notes = new StreamNotes(deps, attempt);
  }

  /** Bits a second of the last segment. */
  get bitrate(): number | undefined {
    return this.#made && Math.round((this.#made.bytes * 8000) / this.#made.durationMs);
  }

  /** Of the packets since the last call, those that came, in percent; undefined where no packet is counted. */
  takeQuality(): number | undefined {
    const { packets, lost } = this.#packets.take();
    return packets + lost > 0 ? Math.floor((packets * 100) / (packets + lost)) : undefined;
  }

  get isLive(): boolean {
    return this.#live;
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Stops once everything that was received is cut and stored. */
  leave(): void {
    this.#leaving = true;
  }

  /** The reason for which the source failed; undefined after `stop` or `leave`. */
  async run(): Promise<StreamFault | undefined> {
    try {
      this.#begun = this.#begin();
      await Promise.all([this.#receive(), this.#begun]);
      await this.#writes;
      throw this.#fault ?? new SourceFault('ended', 'the source ended');
    } catch (error) {
      await this.#writes.catch(() => undefined);
      if ((this.#stop.signal.aborted || this.#leaving) && !this.#fault) return undefined;
      const fault = this.#fault ?? (error as Error);
      const reason = this.#reasonOf(fault);
      this.#deps.log.warn({ channel: this.#attempt.channelId, reason, err: fault.message }, 'source failed');
      this.#noteOutage(reason);
      return reason;
    } finally {
      this.#stop.abort();
      await this.#notes.end();
    }
  }

  #reasonOf(fault: Error): StreamFault {
    if (this.#packets.isScrambled) return 'drm';
    return fault instanceof SourceFault ? fault.reason : 'not-media';
  }

  /** Numbers go on after the last segment of the channel, wherever it was received. */
  async #begin(): Promise<void> {
    const { channelId, streamId, epoch } = this.#attempt;
    const stored = await listSegments(this.#deps, channelId).catch(() => []);
    const known = [...stored, ...this.#deps.spool.pending(channelId)];
    this.#last = known.reduce<LiveSegment | undefined>(
      (best, one) => (best && best.sequence > one.sequence ? best : one),
      undefined,
    );
    this.#next = {
      sequence: this.#last ? this.#last.sequence + 1 : Math.floor(this.#deps.now() / 1000),
      discontinuity: this.#last ? this.#last.discontinuity + 1 : 0,
      epoch,
      streamId,
    };
  }

  async #receive(): Promise<void> {
    const copy = new StreamCopy((bytes, limits) => this.#streamsOf('copy', bytes, limits), this.#rests);
    const started = copy.start();
    started.catch(() => undefined);
    try {
      const reading = await this.#open();
      await started;
      await this.#pump(reading, copy);
    } finally {
      copy.kill();
    }
  }

  #open(): Promise<Reading> {
    const { networks, send, connect, releasedAt, log } = this.#deps;
    const { source, channelId: channel } = this.#attempt;
    const note = ({ message: err }: Error): void => log.warn({ channel, err }, 'a part of the source is left out');
    const deps = { send, connect, networks: networks(), signal: this.#stop.signal, rests: this.#rests, note };
    return openFreed(source, deps, releasedAt);
  }

  async #pump(reading: Reading, copy: StreamCopy): Promise<void> {
    const captions = new LiveCaptions();
    const lost = (): number => this.#packets.total.lost;
    const cutter = new LiveCutter((piece) => this.#onPiece(piece), { captions, lost });
    const output = this.#read(copy, cutter);
    const watch = setInterval(() => this.#requireBytes(reading), 250);
    this.#heardAt = performance.now();
    try {
      for await (const chunk of reading.bytes) {
        this.#receivedAt ||= this.#deps.now();
        this.#heardAt = performance.now();
        captions.announced.push(chunk);
        if (reading.hasCounters) this.#packets.push(chunk);
        if (this.#stop.signal.aborted || this.#leaving) break;
        await copy.write(chunk, this.#stop.signal);
        await this.#pace();
      }
    } finally {
      clearInterval(watch);
      this.#ending = true;
      if (!this.#stop.signal.aborted) {
        // The received bytes are cut to their end before the source counts as ended.
        this.#stop.signal.addEventListener('abort', () => copy.kill());
        copy.end();
        await Promise.race([output, new Promise((resolve) => setTimeout(resolve, 1000))]);
        cutter.end();
      }
    }
  }

  /** Whether bytes may wait for a moment; those of the first picture wait for nothing. */
  readonly #rests = (): boolean => this.#cutMs >= TARGET_MS;

  #isAhead(): boolean {
    return this.#waiting > MOST_WAITING || this.#cutMs - (performance.now() - this.#cutSince) > MOST_AHEAD_MS;
  }

  async #pace(): Promise<void> {
    const { signal } = this.#stop;
    for (; this.#isAhead() && !signal.aborted; this.#heardAt = performance.now())
      await sleep(100, undefined, { signal }).catch(() => undefined);
  }

  async #read(copy: StreamCopy, cutter: LiveCutter): Promise<void> {
    try {
      for await (const chunk of copy.read()) cutter.push(chunk);
      if (!this.#ending) this.#fail(new SourceFault('not-media', copy.words.slice(-300) || 'ffmpeg ended'));
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  #requireBytes({ silentMs }: Reading): void {
    const limit = this.#receivedAt === 0 ? FIRST_BYTES_MS : silentMs;
    if (performance.now() - this.#heardAt < limit) return;
    this.#fail(new SourceFault(this.#receivedAt === 0 ? 'no-signal' : 'stalled', 'the source is silent'));
  }

  #fail(error: Error): void {
    if (this.#stop.signal.aborted) return;
    this.#fault = error;
    this.#stop.abort();
  }

  #onPiece(piece: Piece): void {
    this.#cutSince ||= performance.now();
    this.#cutMs += Math.min(piece.durationMs, LONGEST_PIECE_MS);
    this.#waiting += 1;
    this.#writes = this.#writes
      .then(() => this.#take(piece))
      .catch((error: Error) => this.#fail(error))
      .finally(() => {
        this.#waiting -= 1;
      });
  }

  async #take(piece: Piece): Promise<void> {
    await this.#begun;
    if (!this.#next) throw new Error('no number');
    const { channelId } = this.#attempt;
    const isNew = piece.afterHole ? 1 : 0;
    const segment = {
      ...{ ...this.#next, discontinuity: this.#next.discontinuity + isNew },
      ...{ startMs: this.#startOf(piece), durationMs: piece.durationMs, bytes: piece.bytes.length },
    };
    const before = this.#made;
    this.#next = { ...this.#next, sequence: segment.sequence + 1, discontinuity: segment.discontinuity };
    this.#made = segment;
    await this.#deps.spool.put(channelId, segment, this.#live ? piece : { ...piece, release: undefined }); // probed below
    this.#notes.services(piece);
    if (!this.#live) await this.#goLive(piece, segment);
    if (isNew && before) this.#notes.hole(segmentEnd(before), segment.startMs);
  }

  /** Dates come from reception and follow the broadcast's own clock from there. */
  #startOf({ atMs, durationMs }: Piece): number {
    const expected = this.#receivedAt + atMs;
    const drift = this.#deps.now() - (expected + durationMs);
    if (Math.abs(drift) <= DRIFT_MS) return expected;
    this.#receivedAt += drift;
    return this.#receivedAt + atMs;
  }

  async #goLive(piece: Piece, segment: LiveSegment): Promise<void> {
    const facts = await this.#probe(piece);
    if (!facts) return;
    this.#live = true;
    const last = this.#last;
    const isRestart = last?.streamId === this.#attempt.streamId && segment.startMs - segmentEnd(last) > 500;
    this.#notes.live(facts, { sinceMs: segment.startMs, ...(isRestart && { interruptedMs: segmentEnd(last) }) });
  }

  #streamsOf(use: string, bytes: Buffer, limits?: readonly string[]): Promise<ProbedStream[]> {
    const path = join(this.#deps.folder, `${use}-${this.#attempt.streamId}.ts`);
    return factsOf({ path, bytes, signal: this.#stop.signal, ...(limits && { limits }) });
  }

  async #probe({ bytes }: Piece): Promise<ProbedStream[] | undefined> {
    try {
      return await this.#streamsOf('probe', bytes);
    } catch (error) {
      this.#probes += 1;
      if (this.#probes >= PROBES) throw new SourceFault('not-media', (error as Error).message);
      return undefined;
    }
  }

  #noteOutage(reason: StreamFault): void {
    const last = this.#made ?? (this.#last?.streamId === this.#attempt.streamId ? this.#last : undefined);
    if (last) this.#notes.outage(segmentEnd(last), reason);
  }
}
