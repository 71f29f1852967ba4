import { expect } from 'chai';
import { broadcast } from '#support/tuner-box.ts';
import { StreamCopy } from '#workers/tuner/streams/copying.ts';
import { LiveCutter, type Piece } from '#workers/tuner/streams/cutter.ts';
import { PacketCounter } from '#workers/tuner/streams/losses.ts';

const PACKET = 188;
const VIDEO = 0x100;

interface Head {
  pid?: number;
  field?: number[];
  payload?: boolean;
  broken?: boolean;
  scrambled?: boolean;
}

function packet(counter: number, head: Head = {}): Buffer {
  const { pid = VIDEO, field, payload = true, broken = false, scrambled = false } = head;
  const control = (scrambled ? 0x80 : 0) | (field ? 0x20 : 0) | (payload ? 0x10 : 0) | (counter & 15);
  const first = [0x47, (broken ? 0x80 : 0) | (pid >> 8), pid & 0xff, control];
  return Buffer.concat(
    [Buffer.from([...first, ...(field ? [field.length, ...field] : [])]), Buffer.alloc(PACKET)],
    PACKET,
  );
}

function counted(packets: readonly Buffer[], size = 1000): PacketCounter {
  const counter = new PacketCounter();
  const bytes = Buffer.concat(packets);
  for (let at = 0; at < bytes.length; at += size) counter.push(bytes.subarray(at, at + size));
  return counter;
}

const packetsOf = (bytes: Buffer): Buffer[] =>
  Array.from({ length: bytes.length / PACKET }, (_, at) => bytes.subarray(at * PACKET, (at + 1) * PACKET));

describe('the counters of packets', () => {
  it('count the missing packets of each PID, over their wrap', () => {
    const all = Array.from({ length: 64 }, (_, at) => [packet(at), packet(at + 7, { pid: 0x101 })]).flat();
    expect(counted(all).total).to.deep.equal({ packets: 128, lost: 0, broken: 0, scrambled: 0 });
    const left = all.filter((_, at) => ![31, 32, 33, 34, 35, 100].includes(at)); // 31, 33, 35 are of the second PID
    expect(counted(left).total).to.include({ packets: 122, lost: 6 });
  });

  it('allow one repetition, and no second one', () => {
    expect(counted([packet(3), packet(3), packet(4)]).total.lost).to.equal(0);
    expect(counted([packet(3), packet(3), packet(3), packet(4)]).total.lost).to.equal(15);
  });

  it('start over where the stream announces it, and stand still in packets without payload', () => {
    expect(counted([packet(3), packet(9, { field: [0x80] }), packet(10)]).total.lost).to.equal(0);
    expect(counted([packet(3), packet(9, { field: [0x10] }), packet(10)]).total.lost).to.equal(5);
    const still = packet(3, { field: [0x10], payload: false });
    expect(counted([packet(3), still, still, packet(4)]).total.lost).to.equal(0);
  });

  it('pass over empty packets, and find the packets again after noise', () => {
    const empty = [packet(0, { pid: 0x1fff }), packet(9, { pid: 0x1fff })];
    expect(counted(empty).total.packets).to.equal(0);
    const noise = Buffer.from([1, 2, 0x47, 3]);
    const found = counted([packet(1), noise, packet(2), packet(3), packet(5)], 77);
    expect(found.total).to.include({ packets: 4, lost: 1 });
  });

  it('count broken packets, whose counters do not count, and scrambled ones', () => {
    const found = counted([packet(1), packet(14, { broken: true }), packet(3), packet(4, { scrambled: true })]);
    expect(found.total).to.deep.equal({ packets: 4, lost: 1, broken: 1, scrambled: 1 });
    expect(found.isScrambled).to.equal(false);
    expect(counted([1, 2, 3].map((at) => packet(at, { scrambled: true }))).isScrambled).to.equal(true);
  });

  it('give the losses since the last look', () => {
    const counter = counted([packet(1), packet(3)]);
    expect(counter.take()).to.deep.equal({ packets: 2, lost: 1 });
    counter.push(packet(4));
    expect(counter.take()).to.deep.equal({ packets: 1, lost: 0 });
  });

  for (const [name, isLost] of [
    ['are a hole in the pieces where pictures are missing with them', true],
    ['are none where the clock of the broadcast jumps and no packet is lost', false],
  ] as const)
    it(name, async () => {
      const all = packetsOf(broadcast('h264'));
      // Two seconds and a half of eight are missing.
      const [from, to] = [Math.floor(all.length * 0.4), Math.floor(all.length * 0.7125)];
      const sent = Buffer.concat(all.filter((_, at) => at < from || at >= to));
      const counter = new PacketCounter();
      const copy = new StreamCopy(async () => []);
      await copy.start();
      const pieces: Piece[] = [];
      const lost = (): number => (isLost ? counter.total.lost : 0);
      const cutter = new LiveCutter((piece) => pieces.push(piece), { lost });
      counter.push(sent);
      const written = copy.write(sent, AbortSignal.timeout(20_000)).then(() => copy.end());
      for await (const chunk of copy.read()) cutter.push(chunk);
      cutter.end();
      await written;
      expect(counter.total.lost).to.be.above(0);
      const gaps = pieces
        .slice(1)
        .map(({ atMs }, at) => atMs - (pieces[at]?.atMs ?? 0) - (pieces[at]?.durationMs ?? 0));
      const holes = gaps.filter((ms) => ms > 100);
      expect(holes).to.have.lengthOf(isLost ? 1 : 0);
      if (!isLost) return;
      expect(holes[0]).to.be.within(2400, 3700); // up to the next keyframe
      expect(pieces.map(({ afterHole }) => afterHole).filter(Boolean)).to.have.lengthOf(1);
      expect(pieces.findIndex(({ afterHole }) => afterHole)).to.equal(gaps.findIndex((ms) => ms > 100) + 1);
    });
});
