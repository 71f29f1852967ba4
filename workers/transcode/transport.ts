import { type StreamPlan, segmentAt, segmentCount, TRANSPORT_OFFSET_MS } from '#areas/streaming/public.ts';
import { PACKET, PAT, type Packet, readPacket, tablePid, timeOf, videoPid } from './packets.ts';

export interface TransportEvents {
  onSegment(n: number, bytes: Buffer): void;
}

/**
 * Cuts ffmpeg's transport stream into segments of the plan: video at its keyframes, audio by its own time, so that
 * neither depends on the interleaving. Each segment begins with one program table, numbered by the segment, so that it
 * is complete by itself and continuous with its neighbours.
 */
export class TransportCutter {
  readonly #plan: StreamPlan;
  readonly #events: TransportEvents;
  #rest: Buffer = Buffer.alloc(0);
  #tables: { pat?: Buffer; pmt?: Buffer; pmtPid?: number; video?: number } = {};
  /** Packets of incomplete segments. */
  readonly #held = new Map<number, Buffer[]>();
  /** The current segment of each stream. */
  readonly #at = new Map<number, number>();
  #next: number;
  count = 0;

  constructor({ plan, from }: { plan: StreamPlan; from: number }, events: TransportEvents) {
    this.#plan = plan;
    this.#next = from;
    this.#events = events;
  }

  push(chunk: Buffer): void {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    let at = 0;
    for (; at + PACKET <= bytes.length; at += PACKET) this.#onPacket(bytes.subarray(at, at + PACKET));
    this.#rest = bytes.subarray(at);
  }

  end(): void {
    this.#giveBefore(segmentCount(this.#plan));
  }

  #onPacket(bytes: Buffer): void {
    const packet = readPacket(bytes);
    if (this.#isTable(packet, bytes)) return;
    if (packet.start) this.#onStart(packet, bytes);
    const n = this.#at.get(packet.pid) ?? -1;
    if (n < this.#next) return;
    const held = this.#held.get(n);
    if (held) held.push(bytes);
    else this.#held.set(n, [bytes]);
  }

  /** Tables are kept and written again; the service description is not needed. */
  #isTable(packet: Packet, bytes: Buffer): boolean {
    if (packet.pid === PAT) {
      this.#tables.pat ??= Buffer.from(bytes);
      this.#tables.pmtPid ??= tablePid(bytes, packet.payload);
    } else if (packet.pid === this.#tables.pmtPid) {
      this.#tables.pmt ??= Buffer.from(bytes);
      this.#tables.video ??= videoPid(bytes, packet.payload) ?? -1;
    } else return packet.pid < 0x20;
    return true;
  }

  #onStart(packet: Packet, bytes: Buffer): void {
    const picture = packet.pid === this.#tables.video;
    if (picture) this.count += 1;
    const ticks = picture && !packet.key ? undefined : timeOf(bytes.subarray(packet.payload));
    if (ticks === undefined) return;
    const ms = ticks / 90 - TRANSPORT_OFFSET_MS;
    const n = ms < -1 ? -1 : segmentAt(this.#plan, ms + (picture ? 1.5 : 0.5));
    if (n <= (this.#at.get(packet.pid) ?? -1)) return;
    this.#at.set(packet.pid, n);
    this.#giveBefore(this.#wholeBefore());
  }

  /** Earlier segments are complete; audio that is a whole segment behind is not waited for. */
  #wholeBefore(): number {
    const video = this.#at.get(this.#tables.video ?? -1) ?? -1;
    return Math.max(Math.min(...this.#at.values()), video - 1);
  }

  #giveBefore(n: number): void {
    for (; this.#next < n; this.#next++) {
      const packets = this.#held.get(this.#next) ?? [];
      this.#held.delete(this.#next);
      this.#events.onSegment(this.#next, Buffer.concat([...this.#heads(this.#next), ...packets]));
    }
  }

  #heads(n: number): Buffer[] {
    return [this.#tables.pat, this.#tables.pmt].map((table) => {
      const copy = Buffer.from(table ?? Buffer.alloc(0));
      if (copy.length > 3) copy[3] = ((copy[3] ?? 0) & 0xf0) | (n & 0x0f);
      return copy;
    });
  }
}
