import { type CaptionService, MOST_CAPTION_BYTES, type SegmentCaptions } from '#platform/live/captions.ts';
import { PacketFinder } from '#workers/captions/packets.ts';
import { type Announced, ProgramReader } from '#workers/captions/program.ts';
import { CaptionReader } from '#workers/captions/reader.ts';
import { readPacket } from '#workers/transcode/packets.ts';

/** A broadcast that names its captions does so in its first bytes. */
const LOOKED_AT = 16 << 20;

/** Finds the names of captions in the program map of the source: ffmpeg does not repeat them. */
export class AnnouncedCaptions {
  readonly #tables = new ProgramReader();
  readonly #packets = new PacketFinder();
  #read = 0;

  get found(): Announced[] {
    return this.#tables.program?.announced ?? [];
  }

  push(chunk: Buffer): void {
    if (this.#read > LOOKED_AT || this.#tables.program) return;
    this.#read += chunk.length;
    for (const packet of this.#packets.push(chunk)) this.#tables.push(readPacket(packet), packet);
  }
}

/** The captions of a stream, piece by piece. */
export class LiveCaptions {
  readonly announced = new AnnouncedCaptions();
  readonly #reader = new CaptionReader();

  /** A packet of ffmpeg's stream. */
  push(packet: Buffer): void {
    this.#reader.push(packet);
  }

  /** The captions of a piece, whose packets are in. */
  take(ticks: number, durationMs: number): SegmentCaptions | undefined {
    const services = this.#reader.services(this.announced.found);
    const startMs = this.#reader.msNear(ticks);
    let room = MOST_CAPTION_BYTES / 2;
    const filled = services.map((service) => ({ ...service, cues: this.#cuesOf(service, startMs, durationMs) }));
    for (const service of filled)
      service.cues = service.cues.filter(({ text }) => {
        room -= 64 + Buffer.byteLength(text) * 2; // as JSON
        return room > 0;
      });
    return filled.length > 0 ? { ticks, services: filled } : undefined;
  }

  #cuesOf({ id }: CaptionService, startMs: number, durationMs: number): SegmentCaptions['services'][number]['cues'] {
    return this.#reader
      .take(id, startMs + durationMs)
      .map((cue) => ({
        ...cue,
        startMs: Math.max(0, Math.round(cue.startMs - startMs)),
        endMs: Math.min(durationMs, Math.round(cue.endMs - startMs)),
      }))
      .filter((cue) => cue.endMs > cue.startMs);
  }
}
