// Packets that a source has lost, by the counters of a transport stream.
import { PACKET, pidAt } from '#workers/transcode/packets.ts';

const SYNC = 0x47;
const EMPTY = 0x1fff;
const COUNTERS = 16;
const PIDS = 0x2000;
const [UNKNOWN, REPEATED] = [0xff, 0x10];
const [BROKEN, SCRAMBLED, FIELD, PAYLOAD, NEW_COUNTERS] = [0x80, 0xc0, 0x20, 0x10, 0x80];

export interface Losses {
  packets: number;
  /** By the gaps of the counters: sixteen lost packets in a row, or a multiple of them, are invisible. */
  lost: number;
  /** Packets that the receiver marked as broken. */
  broken: number;
  scrambled: number;
}

const NONE: Losses = { packets: 0, lost: 0, broken: 0, scrambled: 0 };

/**
 * Counts packets of each PID. The counter rises with each payload. One packet may be sent twice, and an announced discontinuity starts
 * over.
 */
export class PacketCounter {
  /** The last counter of each PID, with a mark once its packet was repeated. */
  readonly #last = new Uint8Array(PIDS).fill(UNKNOWN);
  readonly #rest = Buffer.alloc(PACKET);
  #held = 0;
  #taken: Losses = { ...NONE };
  readonly total: Losses = { ...NONE };

  /** Whether most packets are scrambled: no picture can be shown. */
  get isScrambled(): boolean {
    return this.total.scrambled * 2 > this.total.packets;
  }

  /** Packets that came, and those that were lost, since the last call. */
  take(): Pick<Losses, 'packets' | 'lost'> {
    const before = this.#taken;
    this.#taken = { ...this.total };
    return { packets: this.total.packets - before.packets, lost: this.total.lost - before.lost };
  }

  /** The chunk is read in place, with the packet that began in the chunk before. */
  push(chunk: Buffer): void {
    const missing = PACKET - this.#held;
    if (this.#held === 0) this.#read(chunk, 0);
    else if (this.#rest[0] === SYNC && chunk.length >= missing) {
      chunk.copy(this.#rest, this.#held, 0, missing);
      this.#count(this.#rest, 0);
      this.#read(chunk, missing);
    } else this.#read(Buffer.concat([this.#rest.subarray(0, this.#held), chunk]), 0);
  }

  #read(bytes: Buffer, from: number): void {
    let at = from;
    while (at + PACKET <= bytes.length) {
      if (bytes[at] === SYNC) {
        this.#count(bytes, at);
        at += PACKET;
      } else at = nextSync(bytes, at);
    }
    this.#held = bytes.copy(this.#rest, 0, at);
  }

  #count(bytes: Buffer, at: number): void {
    const pid = pidAt(bytes, at);
    if (pid === EMPTY) return;
    this.total.packets += 1;
    const control = bytes[at + 3] ?? 0;
    if ((bytes[at + 1] ?? 0) & BROKEN)
      this.total.broken += 1; // the rest of it may be wrong
    else if (control & PAYLOAD) this.#follow(pid, control & 0x0f, isNewAt(bytes, at));
    if (control & SCRAMBLED) this.total.scrambled += 1;
  }

  #follow(pid: number, counter: number, isNew: boolean): void {
    const last = this.#last[pid] ?? UNKNOWN;
    const isRepeated = last === counter;
    this.#last[pid] = isRepeated ? counter | REPEATED : counter;
    if (last === UNKNOWN || isNew || isRepeated) return;
    this.total.lost += (counter - (last & 0x0f) - 1 + COUNTERS) % COUNTERS;
  }
}

/** Whether the packet announces that its counter starts over. */
const isNewAt = (bytes: Buffer, at: number): boolean =>
  ((bytes[at + 3] ?? 0) & FIELD) !== 0 && (bytes[at + 4] ?? 0) > 0 && ((bytes[at + 5] ?? 0) & NEW_COUNTERS) !== 0;

/** Where packets may go on; the end where no packet is found. */
function nextSync(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(SYNC, from + 1); at >= 0; at = bytes.indexOf(SYNC, at + 1))
    if (at + PACKET >= bytes.length || bytes[at + PACKET] === SYNC) return at;
  return bytes.length;
}
