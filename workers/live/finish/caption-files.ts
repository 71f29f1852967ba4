// The captions of a recording as files of SubRip, one for each service, written part by part with bounded memory.
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { CaptionCue, CaptionService, SegmentCaptions } from '#platform/live/captions.ts';
import type { LiveSegment } from '#platform/live/segments.ts';

const WRAP = 2 ** 33;
/** A jump of the clock by more starts a new timeline in the joined file, as an interruption of the broadcast does. */
export const JUMP_SECONDS = 3;
/** Cues that end and begin within this are one text over two parts. */
const SEAM_MS = 60;
const MOST_CUES = 50_000;
/** As many as a broadcast may have. */
const MOST_TRACKS = 16;
/** Bytes of all files: ffmpeg reads them whole. A day of speech has a tenth. */
const MOST_BYTES = 32 << 20;
const TOP = 50;

/** The captions of one service; the last cue is not written yet, because it may go on in the next part. */
interface Track {
  service: CaptionService;
  path: string;
  file: FileHandle;
  last: CaptionCue;
  cues: number;
}

export type CaptionFile = Pick<Track, 'service' | 'path'>;

/** Writes the captions of parts that are added in order. */
export class CaptionFiles {
  readonly #folder: string;
  readonly #tracks = new Map<string, Track>();
  #atMs = 0;
  #expected: number | undefined;
  #discontinuity: number | undefined;
  #bytes = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** No more fits: other parts need not be read. */
  get full(): boolean {
    return this.#bytes >= MOST_BYTES;
  }

  async add(
    { durationMs, discontinuity }: Pick<LiveSegment, 'durationMs' | 'discontinuity'>,
    captions: SegmentCaptions | undefined,
  ): Promise<void> {
    const ticks = captions?.ticks ?? this.#expected;
    const isNew = discontinuity !== this.#discontinuity;
    this.#discontinuity = discontinuity;
    if (ticks !== undefined && this.#expected !== undefined && !isNew) this.#atMs += gapOf(ticks, this.#expected);
    for (const { cues, ...service } of captions?.services ?? []) await this.#collect(service, cues);
    this.#atMs += durationMs;
    this.#expected = ticks && (ticks + durationMs * 90) % WRAP;
  }

  /** Completes the files, those of services with texts. */
  async end(): Promise<CaptionFile[]> {
    const tracks = [...this.#tracks.values()];
    for (const track of tracks) await this.#write(track, [track.last]);
    await this.close();
    return tracks;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#tracks.values()].map(({ file }) => file.close()));
    this.#tracks.clear();
  }

  async #collect(service: CaptionService, cues: readonly CaptionCue[]): Promise<void> {
    const own = cues.map((cue) => ({ ...cue, startMs: cue.startMs + this.#atMs, endMs: cue.endMs + this.#atMs }));
    const track = this.#tracks.get(service.id) ?? (await this.#open(service, own));
    if (!track) return;
    const whole: CaptionCue[] = [];
    for (const cue of own) {
      if (cue === track.last) continue;
      if (goesOn(track.last, cue)) track.last.endMs = cue.endMs;
      else {
        whole.push(track.last);
        track.last = cue;
      }
    }
    await this.#write(track, whole);
  }

  /** Undefined without a text, or for one service too many. */
  async #open(service: CaptionService, [first]: readonly CaptionCue[]): Promise<Track | undefined> {
    const at = this.#tracks.size;
    if (!first || at >= MOST_TRACKS) return undefined;
    const path = join(this.#folder, `${at}.srt`);
    const track = { service, path, file: await open(path, 'w'), last: first, cues: 0 };
    this.#tracks.set(service.id, track);
    return track;
  }

  async #write(track: Track, cues: readonly CaptionCue[]): Promise<void> {
    const blocks: string[] = [];
    for (const cue of cues) {
      if (this.full || track.cues >= MOST_CUES) break;
      track.cues += 1;
      const block = blockOf(cue, track.cues);
      this.#bytes += Buffer.byteLength(block);
      blocks.push(block);
    }
    if (blocks.length > 0) await track.file.appendFile(blocks.join(''));
  }
}

/** Milliseconds between the expected time of a part and its own; 0 where a new timeline begins. */
function gapOf(ticks: number, expected: number): number {
  const gap = ((((ticks - expected) % WRAP) + WRAP * 1.5) % WRAP) - WRAP / 2;
  return Math.abs(gap) <= JUMP_SECONDS * 90_000 ? Math.round(gap / 90) : 0;
}

const goesOn = (last: CaptionCue, { text, line, startMs }: CaptionCue): boolean =>
  last.text === text && last.line === line && startMs - last.endMs <= SEAM_MS;

const clock = (ms: number): string => new Date(Math.max(0, ms)).toISOString().slice(11, 23).replace('.', ',');

function blockOf({ startMs, endMs, text, line }: CaptionCue, number: number): string {
  const words = text.replaceAll('<', '‹').replaceAll('>', '›').replaceAll('{', '(').replaceAll('}', ')'); // no markup
  const place = line !== undefined && line < TOP ? '{\\an8}' : '';
  return `${number}\n${clock(startMs)} --> ${clock(endMs)}\n${place}${words}\n\n`;
}
