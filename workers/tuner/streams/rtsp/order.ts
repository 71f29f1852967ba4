/** A packet that is late by more others is given up. */
const WINDOW = 64;
const HALF = 0x8000;

/** Packets of RTP over UDP in the order of their numbers, each once. */
export class RtpOrder {
  #next: number | undefined;
  #sender = 0;
  readonly #early = new Map<number, Buffer>();
  #old = 0;

  /** The packets whose turn it is now. */
  push(packet: Buffer): Buffer[] {
    if (packet.length < 12) return [];
    const number = packet.readUInt16BE(2);
    this.#follow(number, packet.readUInt32BE(8));
    const ahead = (number - (this.#next ?? number)) & 0xffff;
    if (ahead >= HALF) {
      this.#old += 1;
      return [];
    }
    this.#old = 0;
    this.#early.set(number, packet);
    if (this.#early.size > WINDOW) this.#skip();
    return this.#due();
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
