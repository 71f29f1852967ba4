import { PACKET } from '#workers/transcode/packets.ts';

const SYNC = 0x47;

/** Finds whole packets in chunks of a transport stream, wherever it begins. */
export class PacketFinder {
  #rest: Buffer = Buffer.alloc(0);

  *push(chunk: Buffer): Generator<Buffer> {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    let at = 0;
    while (at + PACKET <= bytes.length) {
      const isPacket = bytes[at] === SYNC && (at + PACKET === bytes.length || bytes[at + PACKET] === SYNC);
      if (isPacket) yield bytes.subarray(at, at + PACKET);
      at += isPacket ? PACKET : 1;
    }
    this.#rest = Buffer.from(bytes.subarray(at));
  }
}
