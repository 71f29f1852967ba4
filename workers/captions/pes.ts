import { PACKET, payloadAt, timeOf } from '#workers/transcode/packets.ts';

/** A packet of an elementary stream. */
export interface Pes {
  /** Presentation and decoding time in ticks of 90 kHz. */
  ticks: number | undefined;
  decodeTicks: number | undefined;
  /** Valid until the packet after the next one of its stream begins. */
  bytes: Buffer;
}

/** A longer one ends early, as no broadcast has one. */
const MOST_BYTES = 4 << 20;
const MOST_STREAMS = 32;
const FIRST_BYTES = 1 << 14;

/** The packet of a stream that is open. Two buffers are used in turn, because the last packet is read while the next one begins. */
class OpenPes {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #spare = Buffer.allocUnsafe(FIRST_BYTES);
  #size = 0;
  isOpen = false;

  begin(): void {
    [this.#bytes, this.#spare] = [this.#spare, this.#bytes];
    this.#size = 0;
    this.isOpen = true;
  }

  add(chunk: Buffer, from: number, to: number): void {
    if (from >= to || this.#size >= MOST_BYTES) return;
    if (this.#size + to - from > this.#bytes.length) {
      const longer = Buffer.allocUnsafe(this.#bytes.length * 2);
      this.#bytes.copy(longer, 0, 0, this.#size);
      this.#bytes = longer;
    }
    this.#size += chunk.copy(this.#bytes, this.#size, from, to);
  }

  /** Packets with pictures name no length. */
  get isWhole(): boolean {
    const length = this.#size >= 6 ? this.#bytes.readUInt16BE(4) : 0;
    return length > 0 && this.#size >= 6 + length;
  }

  end(): Pes | undefined {
    this.isOpen = false;
    return pesOf(this.#bytes.subarray(0, this.#size));
  }
}

/** Puts packets of elementary streams together. */
export class PesReader {
  readonly #open = new Map<number, OpenPes>();

  /** Takes the packet at a place of a chunk. Returns the packet of its stream that is whole, or that ends where a new one begins. */
  push({ pid, start }: { pid: number; start: boolean }, chunk: Buffer, at: number): Pes | undefined {
    const ended = start ? this.end(pid) : undefined;
    const open = start ? this.#begin(pid) : this.#open.get(pid);
    if (!open?.isOpen) return ended;
    open.add(chunk, payloadAt(chunk, at), at + PACKET);
    return ended ?? (open.isWhole ? this.end(pid) : undefined);
  }

  #begin(pid: number): OpenPes | undefined {
    if (!this.#open.has(pid) && this.#open.size < MOST_STREAMS) this.#open.set(pid, new OpenPes());
    const open = this.#open.get(pid);
    open?.begin();
    return open;
  }

  /** The packet that is open. */
  end(pid: number): Pes | undefined {
    const open = this.#open.get(pid);
    return open?.isOpen ? open.end() : undefined;
  }
}

function pesOf(bytes: Buffer): Pes | undefined {
  if (bytes.length < 9 || bytes.readUIntBE(0, 3) !== 1) return undefined;
  const ticks = timeOf(bytes);
  const hasDecoding = ((bytes[7] ?? 0) & 0x40) !== 0 && bytes.length >= 19;
  const decodeTicks = hasDecoding ? timeOf(Buffer.concat([bytes.subarray(0, 9), bytes.subarray(14, 19)])) : undefined;
  return { ticks, decodeTicks, bytes: bytes.subarray(9 + (bytes[8] ?? 0)) };
}
