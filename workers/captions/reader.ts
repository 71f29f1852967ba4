import { PACKET, type Packet, readPacket } from '#workers/transcode/packets.ts';
import { ccDataOf, type Triplet, type VideoKind } from './cc-data.ts';
import { Cea608 } from './cea608.ts';
import { Cea708 } from './cea708.ts';
import type { CaptionCue } from './cue-track.ts';
import { PesReader } from './pes.ts';
import { type Announced, type Program, ProgramReader } from './program.ts';

/** Captions of a broadcast. */
export interface CaptionService {
  /** `cc1` to `cc4`, `service1` and so on, or `page888`. */
  id: string;
  kind: 'cea608' | 'cea708' | 'teletext';
  /** ISO 639-2; `und` if the broadcast does not name it. */
  language: string;
  hearingImpaired: boolean;
}

const WRAP = 2 ** 33;
/** Pictures that wait for those that are shown before them. */
const MOST_WAITING = 64;

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
  #waiting: Picture[] = [];
  #last: number | undefined;
  #hasFields = false;

  /** `growthMs`: how long text that is written while it is visible stays one cue. */
  constructor(growthMs?: number) {
    this.#cea608 = new Cea608(growthMs);
    this.#cea708 = new Cea708(growthMs);
  }

  push(chunk: Buffer): void {
    for (let at = 0; at + PACKET <= chunk.length; at += PACKET) {
      const bytes = chunk.subarray(at, at + PACKET);
      const packet = readPacket(bytes);
      this.#tables.push(packet, bytes);
      if (this.#tables.program) this.#track(this.#tables.program, packet, bytes);
    }
  }

  /** The last pictures. */
  end(): void {
    const { video } = this.#tables.program ?? {};
    if (video) this.#picture(video.kind, this.#pes.end(video.pid));
    this.#decode(Number.POSITIVE_INFINITY);
  }

  /** A time of the stream in milliseconds that rise over the wraps of its clock. */
  msOf(ticks: number): number {
    this.#last ??= ticks;
    this.#last += ((((ticks - this.#last) % WRAP) + WRAP * 1.5) % WRAP) - WRAP / 2;
    return this.#last / 90;
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
    return [...fields, ...digital.filter(isOwn)];
  }

  /** The cues of a service until a time. */
  take(id: string, untilMs: number): CaptionCue[] {
    const [, prefix, number] = /^(cc|service)(\d{1,2})$/.exec(id) ?? [];
    if (prefix === 'cc') return this.#cea608.take(Number(number), untilMs);
    return prefix === 'service' ? this.#cea708.take(Number(number), untilMs) : [];
  }

  get #announced(): Announced[] {
    return this.#tables.program?.announced ?? [];
  }

  #track({ video }: Program, packet: Packet, bytes: Buffer): void {
    if (packet.pid === video?.pid) this.#picture(video.kind, this.#pes.push(packet, bytes));
  }

  #picture(kind: VideoKind, pes: ReturnType<PesReader['push']>): void {
    if (pes?.ticks === undefined) return;
    const atMs = this.msOf(pes.ticks);
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
