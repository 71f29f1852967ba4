/** A packet that is late by more others is given up. */
const WINDOW = 64;
/** Packets of a slow stream, such as radio, wait no longer for a lost one. */
const LONGEST_MS = 250;
const HEAD = 12;
const VERSION = 2;
const HALF = 0x8000;

/** Packets of RTP over UDP in the order of their numbers, each once. */
export class RtpOrder {
  #next: number | undefined;
  #sender = 0;
  readonly #early = new Map<number, Buffer>();
  #old = 0;
  /** Since when the early packets wait. */
  #since = 0;
  readonly #now: () => number;

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** The packets whose turn it is now. */
  push(packet: Buffer): Buffer[] {
    if (packet.length < HEAD || (packet[0] ?? 0) >> 6 !== VERSION) return [];
    const number = packet.readUInt16BE(2);
    this.#follow(number, packet.readUInt32BE(8));
    const ahead = (number - (this.#next ?? number)) & 0xffff;
    if (ahead >= HALF) {
      this.#old += 1;
      return [];
    }
    this.#old = 0;
    if (this.#early.size === 0) this.#since = this.#now();
    this.#early.set(number, packet);
    if (this.#early.size > WINDOW || this.#now() - this.#since > LONGEST_MS) this.#skip();
    const due = this.#due();
    if (due.length > 0) this.#since = this.#now();
    return due;
  }

  /** Begins again where the sender does. */
  #follow(number: number, sender: number): void {
    if (this.#next !== undefined && this.#sender === sender && this.#old <= WINDOW) return;
    this.#next = number;
    this.#sender = sender;
    this.#old = 0;
    this.#early.clear();
  }

  /** Goes on with the first packet after the lost ones. */
  #skip(): void {
    const next = this.#next ?? 0;
    const ahead = [...this.#early.keys()].map((number) => (number - next) & 0xffff);
    this.#next = (next + Math.min(...ahead)) & 0xffff;
  }

  #due(): Buffer[] {
    const due: Buffer[] = [];
    for (let packet = this.#take(); packet; packet = this.#take()) due.push(packet);
    return due;
  }

  #take(): Buffer | undefined {
    const next = this.#next ?? 0;
    const packet = this.#early.get(next);
    if (!packet) return undefined;
    this.#early.delete(next);
    this.#next = (next + 1) & 0xffff;
    return packet;
  }
}
