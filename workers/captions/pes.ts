import { PACKET, type Packet, timeOf } from '#workers/transcode/packets.ts';

/** A packet of an elementary stream. */
export interface Pes {
  /** Presentation and decoding time in ticks of 90 kHz. */
  ticks: number | undefined;
  decodeTicks: number | undefined;
  bytes: Buffer;
}

/** A longer one ends early, as no broadcast has one. */
const MOST_BYTES = 4 << 20;
const MOST_STREAMS = 32;

interface Open {
  parts: Buffer[];
  size: number;
}

/** Packets with pictures name no length. */
function isWhole({ parts, size }: Open): boolean {
  const [first] = parts;
  const length = first && first.length >= 6 ? first.readUInt16BE(4) : 0;
  return length > 0 && size >= 6 + length;
}

/** Puts packets of elementary streams together. */
export class PesReader {
  readonly #open = new Map<number, Open>();

  /** The packet that is whole, or that ends where a new one begins. */
  push({ pid, start, payload }: Packet, packet: Buffer): Pes | undefined {
    const ended = start ? this.end(pid) : undefined;
    if (start && this.#open.size < MOST_STREAMS) this.#open.set(pid, { parts: [], size: 0 });
    const open = this.#open.get(pid);
    if (open && payload < PACKET && open.size < MOST_BYTES) {
      open.parts.push(packet.subarray(payload));
      open.size += PACKET - payload;
    }
    return ended ?? (open && isWhole(open) ? this.end(pid) : undefined);
  }

  /** The packet that is open. */
  end(pid: number): Pes | undefined {
    const open = this.#open.get(pid);
    this.#open.delete(pid);
    return open && pesOf(Buffer.concat(open.parts));
  }
}

function pesOf(bytes: Buffer): Pes | undefined {
  if (bytes.length < 9 || bytes.readUIntBE(0, 3) !== 1) return undefined;
  const ticks = timeOf(bytes);
  const hasDecoding = ((bytes[7] ?? 0) & 0x40) !== 0 && bytes.length >= 19;
  const decodeTicks = hasDecoding ? timeOf(Buffer.concat([bytes.subarray(0, 9), bytes.subarray(14, 19)])) : undefined;
  return { ticks, decodeTicks, bytes: bytes.subarray(9 + (bytes[8] ?? 0)) };
}
