import type { CaptionCue, CaptionService } from '#platform/live/captions.ts';
import { isStartAt, PACKET, pidAt, readPacket } from '#workers/transcode/packets.ts';
import { ccDataOf, type Triplet, type VideoKind } from './cc-data.ts';
import { Cea608 } from './cea608.ts';
import { Cea708 } from './cea708.ts';
import { type Pes, PesReader } from './pes.ts';
import { type Announced, type Program, ProgramReader } from './program.ts';
import { Teletext } from './teletext.ts';

const SYNC = 0x47;
const WRAP = 2 ** 33;
/** Pictures that wait for those that are shown before them. */
const MOST_WAITING = 64;
const MOST_SERVICES = 16;

interface Picture {
  atMs: number;
  triplets: Triplet[];
}

/** Reads the captions of a transport stream: whole packets go in, cues come out. */
export class CaptionReader {
  readonly #tables = new ProgramReader();
  readonly #pes = new PesReader();
  readonly #cea608: Cea608;
  readonly #cea708: Cea708;
  /** By the PID of their stream. */
  readonly #teletext = new Map<number, Teletext>();
  readonly #growthMs: number | undefined;
  /** The program, and the PIDs of its streams that may have captions. */
  #known: Program | undefined;
  #pids: ReadonlySet<number> = new Set();
  #waiting: Picture[] = [];
  #last: number | undefined;
  #hasFields = false;

  /** `growthMs`: how long text that is written while it is visible stays one cue. */
  constructor(growthMs?: number) {
    this.#growthMs = growthMs;
    this.#cea608 = new Cea608(growthMs);
    this.#cea708 = new Cea708(growthMs);
  }

  push(chunk: Buffer): void {
    for (let at = 0; at + PACKET <= chunk.length; at += PACKET) {
      if (chunk[at] !== SYNC) continue;
      const pid = pidAt(chunk, at);
      if (this.#tables.reads(pid)) this.#table(chunk.subarray(at, at + PACKET));
      else if (this.#pids.has(pid)) this.#track(pid, chunk, at);
    }
  }

  #table(bytes: Buffer): void {
    this.#tables.push(readPacket(bytes), bytes);
    const { program } = this.#tables;
    if (!program || program === this.#known) return;
    this.#known = program;
    const { video, teletext } = program;
    this.#pids = new Set([...(video ? [video.pid] : []), ...teletext.map(({ pid }) => pid)]);
  }

  /** The last pictures. */
  end(): void {
    const { video } = this.#tables.program ?? {};
    if (video) this.#picture(video.kind, this.#pes.end(video.pid));
    for (const [pid, decoder] of this.#teletext) this.#page(decoder, this.#pes.end(pid));
    this.#decode(Number.POSITIVE_INFINITY);
  }

  /** A time of the stream in milliseconds that rise over the wraps of its clock. */
  msNear(ticks: number): number {
    const last = this.#last ?? ticks;
    return (last + ((((ticks - last) % WRAP) + WRAP * 1.5) % WRAP) - WRAP / 2) / 90;
  }

  /** Services that were heard so far. `announced`: those that the broadcast names, with their languages. */
  services(announced: readonly Announced[] = []): CaptionService[] {
    const languages = new Map([...this.#announced, ...announced].map(({ id, language }) => [id, language]));
    const named = (prefix: string): number[] =>
      [...languages.keys()].flatMap((id) => (id.startsWith(prefix) ? Number(id.slice(prefix.length)) : []));
    const made = (kind: 'cea608' | 'cea708', prefix: string, numbers: readonly number[]): CaptionService[] =>
      [...new Set(numbers)]
        .filter((number) => number > 0)
        .sort((a, b) => a - b)
        .map((number) => {
          const id = `${prefix}${number}`;
          return { id, kind, language: languages.get(id) ?? 'und', hearingImpaired: true };
        });
    const fields = made('cea608', 'cc', [...this.#cea608.heard, ...(this.#hasFields ? [1, ...named('cc')] : [])]);
    const digital = made('cea708', 'service', [...this.#cea708.heard, ...named('service')]);
    // Stations send the text of a field once more as a service.
    const isOwn = ({ language }: CaptionService): boolean =>
      fields.length === 0 || (language !== 'und' && !fields.some((field) => field.language === language));
    const pages = (this.#tables.program?.teletext ?? []).map(({ page, language, hearingImpaired }) => {
      return { id: `page${page}`, kind: 'teletext' as const, language, hearingImpaired };
    });
    return [...fields, ...digital.filter(isOwn), ...pages].slice(0, MOST_SERVICES);
  }

  /** The cues of a service until a time. */
  take(id: string, untilMs: number): CaptionCue[] {
    const [, prefix, number = ''] = /^(cc|service|page)([\da-f]{1,3})$/.exec(id) ?? [];
    if (prefix === 'page') return this.#pageOf(number)?.take(number, untilMs) ?? [];
    if (prefix === 'cc') return this.#cea608.take(Number(number), untilMs);
    return prefix === 'service' ? this.#cea708.take(Number(number), untilMs) : [];
  }

  #msOf(ticks: number): number {
    const atMs = this.msNear(ticks);
    this.#last = Math.round(atMs * 90);
    return atMs;
  }

  get #announced(): Announced[] {
    return this.#tables.program?.announced ?? [];
  }

  #pageOf(page: string): Teletext | undefined {
    const found = this.#tables.program?.teletext.find((one) => one.page === page);
    return found && this.#teletext.get(found.pid);
  }

  #track(pid: number, chunk: Buffer, at: number): void {
    const { video, teletext = [] } = this.#known ?? {};
    const pes = this.#pes.push({ pid, start: isStartAt(chunk, at) }, chunk, at);
    if (!pes) return;
    if (pid === video?.pid) this.#picture(video.kind, pes);
    else this.#page(this.#decoderOf(pid, teletext), pes);
  }

  #decoderOf(pid: number, teletext: Program['teletext']): Teletext {
    const known = this.#teletext.get(pid);
    if (known) return known;
    const pages = teletext.filter((one) => one.pid === pid).map(({ page }) => page);
    const decoder = new Teletext(pages, this.#growthMs);
    this.#teletext.set(pid, decoder);
    return decoder;
  }

  #page(decoder: Teletext, pes: Pes | undefined): void {
    if (pes?.ticks !== undefined) decoder.push(this.#msOf(pes.ticks), pes.bytes);
  }

  #picture(kind: VideoKind, pes: Pes | undefined): void {
    if (pes?.ticks === undefined) return;
    const atMs = this.#msOf(pes.ticks);
    const lag = (((pes.ticks - (pes.decodeTicks ?? pes.ticks)) % WRAP) + WRAP) % WRAP;
    const triplets = ccDataOf(pes.bytes, kind);
    if (triplets.length > 0) this.#waiting.push({ atMs, triplets });
    // Pictures come in the order of decoding: none that follows is shown before this one's time of decoding.
    this.#decode(atMs - lag / 90);
  }

  #decode(untilMs: number): void {
    this.#waiting.sort((a, b) => a.atMs - b.atMs);
    const due = this.#waiting.filter(({ atMs }, at) => atMs <= untilMs || at < this.#waiting.length - MOST_WAITING);
    this.#waiting = this.#waiting.slice(due.length);
    for (const { atMs, triplets } of due) for (const triplet of triplets) this.#triplet(atMs, triplet);
  }

  #triplet(atMs: number, [type, first, second]: Triplet): void {
    if (type >= 2) this.#cea708.push(atMs, type === 3, [first, second]);
    else {
      this.#hasFields = true;
      this.#cea608.push(atMs, type, [first, second]);
    }
  }
}
