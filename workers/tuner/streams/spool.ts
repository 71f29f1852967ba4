import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { captionsKey } from '#platform/live/captions.ts';
import {
  addSegment,
  LIVE_BUCKET,
  type LiveSegment,
  parseSegmentName,
  segmentKey,
  segmentName,
} from '#platform/live/segments.ts';
import type { Log } from '#platform/log.ts';
import type { Objects } from '#platform/objects.ts';
import type { Redis } from '#platform/redis.ts';
import type { Piece } from './cutter.ts';

const RETRY_MS = 1000;

export interface SpoolDeps {
  redis: Redis;
  objects: Objects;
  log: Log;
  /** Folder of this tuner for segments that the object store has not taken. */
  folder: string;
  /** Limit of that folder; the oldest segments go first. */
  mostBytes: number;
}

/** Segments that are uploaded at once are not read from the disk again, up to so many bytes. */
const MOST_MEMORY = 32 << 20;

interface Held {
  channelId: string;
  segment: LiveSegment;
  bytes?: Buffer | undefined;
  release?: (() => void) | undefined;
}

const CAPTIONS = '.json';
const captionsOf = (path: string): string => `${path}${CAPTIONS}`;
const isCaptionsOf = (file: string, segments: readonly string[]): boolean =>
  file.endsWith(CAPTIONS) && segments.includes(file.slice(0, -CAPTIONS.length));

/** Writes segments to disk and uploads them in order, so that neither an absent store nor a killed process loses one. */
export class Spool {
  readonly #deps: SpoolDeps;
  #held: Held[] = [];
  #uploading: Promise<void> | undefined;
  #stopped = false;

  constructor(deps: SpoolDeps) {
    this.#deps = deps;
  }

  /** Reads what a former process left. */
  async open(): Promise<void> {
    await mkdir(this.#deps.folder, { recursive: true });
    const files = (await readdir(this.#deps.folder)).sort();
    for (const file of files) {
      const [channelId = '', name = ''] = file.split('~');
      const segment = parseSegmentName(name);
      if (segment) this.#held.push({ channelId, segment });
      else if (!isCaptionsOf(file, files)) await rm(join(this.#deps.folder, file), { force: true });
    }
    this.#upload();
  }

  /** Segments of a channel that are not in the store yet. */
  pending(channelId: string): LiveSegment[] {
    return this.#held.filter((one) => one.channelId === channelId).map(({ segment }) => segment);
  }

  /** Resolves once the segment is on disk; its upload goes on by itself. */
  async put(
    channelId: string,
    segment: LiveSegment,
    { bytes, captions, release }: Pick<Piece, 'bytes' | 'captions' | 'release'>,
  ): Promise<void> {
    const inMemory = this.#held.reduce((sum, one) => sum + (one.bytes?.length ?? 0), bytes.length);
    const held = { channelId, segment, ...(inMemory <= MOST_MEMORY && { bytes, release }) };
    const path = this.#path(held);
    await this.#makeRoom(bytes.length);
    if (captions) await writeFile(captionsOf(path), JSON.stringify(captions));
    await writeFile(`${path}.part`, bytes);
    await rename(`${path}.part`, path);
    if (!held.bytes) release?.();
    this.#held.push(held);
    this.#upload();
  }

  /** Resolves when everything is uploaded, or after `limitMs`. */
  async drain(limitMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limitMs);
    });
    await Promise.race([this.#uploading, late]);
    clearTimeout(timer);
    this.#stopped = true;
  }

  #path({ channelId, segment }: Held): string {
    return join(this.#deps.folder, `${channelId}~${segmentName(segment)}`);
  }

  async #remove(held: Held): Promise<void> {
    const path = this.#path(held);
    await rm(path, { force: true });
    await rm(captionsOf(path), { force: true });
  }

  async #makeRoom(bytes: number): Promise<void> {
    let size = this.#held.reduce((sum, { segment }) => sum + segment.bytes, bytes);
    while (size > this.#deps.mostBytes && this.#held.length > 1) {
      const [oldest] = this.#held.splice(1, 1); // the first one may be on its way
      if (!oldest) return;
      size -= oldest.segment.bytes;
      await this.#remove(oldest);
      this.#deps.log.warn({ channel: oldest.channelId }, 'no space: a segment is lost');
    }
  }

  #upload(): void {
    this.#uploading ??= this.#run().finally(() => {
      this.#uploading = undefined;
    });
  }

  async #run(): Promise<void> {
    for (let next = this.#held[0]; next && !this.#stopped; next = this.#held[0]) {
      try {
        await this.#store(next);
        next.release?.();
        this.#held = this.#held.filter((one) => one !== next);
      } catch (error) {
        this.#deps.log.warn({ err: (error as Error).message }, 'segment not stored yet');
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  async #store(held: Held): Promise<void> {
    const path = this.#path(held);
    const { objects, redis } = this.#deps;
    const bytes = held.bytes ?? (await readFile(path).catch(() => undefined));
    if (bytes) {
      // A segment that is listed has its captions.
      const captions = await readFile(captionsOf(path)).catch(() => undefined);
      if (captions) await objects.put(LIVE_BUCKET, captionsKey(held.channelId, held.segment), captions);
      await objects.put(LIVE_BUCKET, segmentKey(held.channelId, held.segment), bytes);
      await addSegment({ objects, redis }, held.channelId, held.segment);
      await this.#remove(held);
    } else if (await stat(this.#deps.folder).catch(() => undefined)) {
      this.#deps.log.warn({ channel: held.channelId }, 'a held segment is gone');
    }
  }
}
