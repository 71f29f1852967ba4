/** A line of a page: its row and its text. */
export interface TeletextLine {
  row: number;
  text: string;
}

export interface TeletextPage {
  atMs: number;
  /** None clears the screen. */
  lines: TeletextLine[];
  /** Number of the national letters; 0 is English. */
  national?: number;
}

const PAGE = 0x88;
const [PMT_PID, TEXT_PID, CLOCK_PID] = [0x100, 0x200, 0x201];

/** Bits go out with the lowest first. */
const turned = (byte: number): number =>
  Array.from({ length: 8 }, (_, i) => ((byte >> i) & 1) << (7 - i)).reduce((sum, bit) => sum + bit, 0);

const ones = (byte: number): number => Array.from({ length: 8 }, (_, i) => (byte >> i) & 1).reduce((a, b) => a + b, 0);

/** Seven bits and one that makes their number odd. */
const odd = (char: number): number => (ones(char & 0x7f) % 2 === 0 ? char | 0x80 : char);

/** Four bits, each behind one that protects it (Hamming 8/4). */
function hamming(nibble: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = [0, 1, 2, 3].map((i) => (nibble >> i) & 1);
  const [p, q, r] = [1 ^ a ^ c ^ d, 1 ^ a ^ b ^ d, 1 ^ a ^ b ^ c];
  const last = 1 ^ p ^ a ^ q ^ b ^ r ^ c ^ d;
  return [p, a, q, b, r, c, last, d].reduce((sum, bit, i) => sum | (bit << i), 0);
}

function dataUnit(row: number, bytes: number[]): number[] {
  const address = [hamming((row & 1) << 3), hamming(row >> 1)]; // magazine 8 is written as 0
  return [0x03, 0x2c, 0xe7, 0xe4, ...[...address, ...bytes].map(turned)];
}

function headOf(page: number, national = 0): number[] {
  const [erases, subtitle] = [8, 8];
  const letters = ((national & 4) >> 1) | ((national & 2) << 1) | ((national & 1) << 3); // the highest bit comes first
  const bits = [page & 15, page >> 4, 0, erases, 0, subtitle, 1, letters].map(hamming);
  return dataUnit(0, [...bits, ...new Array<number>(32).fill(odd(0x20))]);
}

function rowOf({ row, text }: TeletextLine): number[] {
  const [double, boxStart, boxEnd] = [0x0d, 0x0b, 0x0a];
  const chars = [double, boxStart, boxStart, ...Buffer.from(text), boxEnd, boxEnd].map(odd);
  return dataUnit(row, [...chars, ...new Array<number>(40 - chars.length).fill(odd(0x20))]);
}

/** The elementary stream's packet: lines fill it up to a multiple of 184 bytes. */
function pesOf({ atMs, lines, national }: TeletextPage): Buffer {
  const units = [headOf(PAGE, national), ...lines.map(rowOf), headOf(0xff)];
  while (units.length % 4 !== 3) units.push([0xff, 0x2c, ...new Array<number>(44).fill(0xff)]);
  const ticks = atMs * 90;
  const time = [0x21 | ((ticks >> 29) & 14), ticks >> 22, (ticks >> 14) | 1, ticks >> 7, (ticks << 1) | 1];
  const head = [0x84, 0x80, 0x24, ...time, ...new Array<number>(31).fill(0xff)];
  const body = Buffer.from([...head, 0x10, ...units.flat()]);
  return Buffer.concat([Buffer.from([0, 0, 1, 0xbd, body.length >> 8, body.length & 255]), body]);
}

function checksum(bytes: Buffer): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte << 24;
    for (let i = 0; i < 8; i += 1) sum = sum & 0x80000000 ? (sum << 1) ^ 0x04c11db7 : sum << 1;
  }
  return sum >>> 0;
}

function section(table: number, body: number[]): Buffer {
  const length = body.length + 4;
  const bytes = Buffer.from([table, 0xb0 | (length >> 8), length & 255, ...body]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(checksum(bytes));
  return Buffer.concat([Buffer.from([0]), bytes, sum], 184).fill(0xff, 1 + bytes.length + 4);
}

/** A transport stream of teletext subtitles alone, on page 888, in English; ffmpeg multiplexes it with a film. */
export function teletextStream(pages: readonly TeletextPage[]): Buffer {
  const counters = new Map<number, number>();
  const packets = (pid: number, payload: Buffer): Buffer[] =>
    Array.from({ length: payload.length / 184 }, (_, i) => {
      const count = ((counters.get(pid) ?? -1) + 1) & 15;
      counters.set(pid, count);
      const head = [0x47, (i === 0 ? 0x40 : 0) | (pid >> 8), pid & 255, 0x10 | count];
      return Buffer.concat([Buffer.from(head), payload.subarray(i * 184, (i + 1) * 184)]);
    });
  const clock = (atMs: number): Buffer => {
    const ticks = atMs * 90;
    const head = [0x47, CLOCK_PID >> 8, CLOCK_PID & 255, 0x20, 183, 0x10, ticks >> 25, ticks >> 17, ticks >> 9];
    return Buffer.concat([Buffer.from([...head, ticks >> 1, ((ticks & 1) << 7) | 0x7e, 0])], 188).fill(0xff, 12);
  };
  const descriptor = [0x56, 5, ...Buffer.from('eng'), 2 << 3, PAGE];
  const stream = [0x06, 0xe0 | (TEXT_PID >> 8), TEXT_PID & 255, 0xf0, descriptor.length, ...descriptor];
  const programs = section(0, [0, 1, 0xc1, 0, 0, 0, 1, 0xe0 | (PMT_PID >> 8), PMT_PID & 255]);
  const streams = section(2, [0, 1, 0xc1, 0, 0, 0xe0 | (CLOCK_PID >> 8), CLOCK_PID & 255, 0xf0, 0, ...stream]);
  return Buffer.concat([
    ...packets(0, programs),
    ...packets(PMT_PID, streams),
    ...pages.flatMap((page) => [clock(page.atMs - 20), ...packets(TEXT_PID, pesOf(page))]),
  ]);
}
