// The pictures of a stretch of a film, drawn when their time is near.
import { type Packet, type PictureStream, readStream } from './cis1.ts';
import { beginOf, drawSet } from './pgs.ts';
import type { Screen } from './screen.ts';
import { drawSpu, spanOf } from './vobsub.ts';

/** A stretch on the clock of the film, ms. */
export interface Stretch {
  fromMs: number;
  toMs: number;
}

/** Shown from `fromMs` until before `toMs`. */
export interface Picture extends Stretch {
  /** Absent where the film shows none, and where one is damaged. */
  screen?: Screen;
}

/** All that shows from `fromMs` until before `toMs`. */
export interface PictureWindow extends Stretch {
  pictures: Picture[];
}

/** The picture of a moment and those after it, so that each appears in time. */
const MOST_DRAWN = 3;

interface Span extends Stretch {
  /** Of its packet. */
  index: number;
}

export class PictureReader {
  readonly fromMs: number;
  /** Earlier than requested where the server sent the stretch in part. */
  readonly toMs: number;
  readonly #stream: PictureStream;
  readonly #spans: Span[];

  /** Throws when the bytes are no stream of pictures. */
  constructor(bytes: Uint8Array, { fromMs, toMs }: Stretch) {
    this.#stream = readStream(bytes);
    const { untilMs = toMs } = this.#stream;
    this.fromMs = fromMs;
    this.toMs = untilMs > fromMs ? Math.min(untilMs, toMs) : toMs;
    this.#spans = spansOf(this.#stream, this.toMs);
  }

  /** The pictures from a moment on. A window ends where the next picture begins, at the latest with the stretch. */
  windowAt(ms: number): PictureWindow {
    const first = Math.max(
      0,
      this.#spans.findLastIndex(({ fromMs }) => fromMs <= ms),
    );
    const spans = this.#spans.slice(first, first + MOST_DRAWN);
    const next = this.#spans[first + MOST_DRAWN];
    return {
      fromMs: Math.min(ms, spans[0]?.fromMs ?? ms),
      toMs: next?.fromMs ?? this.toMs,
      pictures: spans.map(({ fromMs, toMs, index }) => ({ fromMs, toMs, ...this.#drawn(index) })),
    };
  }

  /** A damaged picture is left out, and those after it are drawn. */
  #drawn(index: number): { screen?: Screen } {
    try {
      const { codec, packets } = this.#stream;
      const packet = packets[index];
      const screen = codec === 'pgs' ? drawSet(packets, index) : packet && drawSpu(this.#stream, packet);
      return screen ? { screen } : {};
    } catch {
      return {};
    }
  }
}

/** Each packet shows until the next one at the latest. */
function spansOf({ codec, packets }: PictureStream, endMs: number): Span[] {
  const begins = packets.flatMap((packet, index) => {
    const span = codec === 'pgs' ? pgsSpan(packet) : spanOf(packet);
    return span && Number.isFinite(span.fromMs) ? [{ toMs: endMs, ...span, index }] : [];
  });
  begins.sort((a, b) => a.fromMs - b.fromMs);
  return begins.map((one, i) => ({ ...one, toMs: Math.min(one.toMs, begins[i + 1]?.fromMs ?? endMs) }));
}

function pgsSpan(packet: Packet): { fromMs: number; toMs?: number } | undefined {
  const fromMs = beginOf(packet);
  return fromMs === undefined ? undefined : { fromMs };
}
