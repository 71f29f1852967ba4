import { Pace, type Rests } from './pace.ts';

/** What waits for ffmpeg at most; the oldest packets are lost first, as on the network. */
const MOST_BYTES = 12 << 20;
/** Memory of a packet in addition to its bytes. */
const PACKET_BYTES = 128;

/** Packets of a stream between a socket and their reader. */
export class PacketQueue {
  readonly #waiting: Buffer[] = [];
  #bytes = 0;
  #fault: Error | undefined;
  #wake = (): void => undefined;

  get bytes(): number {
    return this.#bytes;
  }

  push(packet: Buffer): void {
    if (this.#fault) return;
    this.#waiting.push(packet);
    this.#bytes += packet.length + PACKET_BYTES;
    while (this.#bytes > MOST_BYTES) this.#bytes -= (this.#waiting.shift()?.length ?? 0) + PACKET_BYTES;
    this.#wake();
  }

  /** Ends the reading with an error, after the packets that wait. */
  end(fault: Error): void {
    this.#fault ??= fault;
    this.#wake();
  }

  /** The packets, all that wait at once; while `rests` is true, with pauses. `taken` is called when there is room again. */
  async *read(rests?: Rests, taken = (): void => undefined): AsyncGenerator<Buffer> {
    const pace = new Pace(rests);
    for (;;) {
      if (this.#waiting.length > 0) {
        const bytes = Buffer.concat(this.#waiting.splice(0));
        this.#bytes = 0;
        taken();
        yield bytes;
        await pace.rest(bytes.length);
      } else if (this.#fault) throw this.#fault;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
