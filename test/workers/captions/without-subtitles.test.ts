import { expect } from 'chai';
import { SubtitleFilter, sectionCheck } from '#workers/captions/without-subtitles.ts';

const [PACKET, PMT, VIDEO, AUDIO, SUBTITLES] = [188, 0x1000, 0x100, 0x200, 0x300];
const LANGUAGE = [0x0a, 4, 0x66, 0x69, 0x6e, 0];
const TELETEXT = [0x56, 5, 0x66, 0x69, 0x6e, 0x10, 0x88];
const DVB = [0x59, 8, 0x66, 0x69, 0x6e, 0x10, 0, 1, 0, 1];

function packet(pid: number, payload: Buffer, { start, count }: { start: boolean; count: number }): Buffer {
  const head = Buffer.from([0x47, (start ? 0x40 : 0) | (pid >> 8), pid & 0xff, 0x10 | (count & 15)]);
  return Buffer.concat([head, payload, Buffer.alloc(PACKET, 0xff)], PACKET);
}

function section(table: number, id: number, body: Buffer): Buffer {
  const head = Buffer.from([table, 0xb0, 0, id >> 8, id & 0xff, 0xc1, 0, 0]);
  const all = Buffer.concat([head, body]);
  all.writeUInt16BE(0xb000 | (all.length + 4 - 3), 1);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(sectionCheck(all));
  return Buffer.concat([Buffer.from([0]), all, check]);
}

const stream = (type: number, pid: number, descriptors: number[] = []): Buffer =>
  Buffer.from([type, 0xe0 | (pid >> 8), pid & 0xff, 0xf0, descriptors.length, ...descriptors]);

/** Packets of a program map as ffmpeg sends it `times` times, after the list of programs, with one packet of each stream. */
function broadcast(sounds: number, subtitles: number, times = 3): Buffer[] {
  const streams = Buffer.concat([
    stream(0x1b, VIDEO),
    ...Array.from({ length: sounds }, (_, at) => stream(0x03, AUDIO + at, LANGUAGE)),
    stream(0x06, SUBTITLES - 1, TELETEXT),
    ...Array.from({ length: subtitles }, (_, at) => stream(0x06, SUBTITLES + at, DVB)),
  ]);
  const map = section(2, 1, Buffer.concat([Buffer.from([0xe1, 0x00, 0xf0, 0]), streams]));
  const programs = section(0, 1, Buffer.from([0, 1, 0xe0 | (PMT >> 8), PMT & 0xff]));
  const parts = Array.from({ length: Math.ceil(map.length / 184) }, (_, at) => map.subarray(at * 184, at * 184 + 184));
  return Array.from({ length: times }, (_, time) => [
    packet(0, programs, { start: true, count: time }),
    ...parts.map((part, at) => packet(PMT, part, { start: at === 0, count: time * parts.length + at })),
    ...[VIDEO, AUDIO, SUBTITLES - 1, SUBTITLES, SUBTITLES + 9].map((pid) =>
      packet(pid, Buffer.from([1]), { start: false, count: time }),
    ),
  ]).flat();
}

const pidOf = (one: Buffer): number => one.readUInt16BE(1) & 0x1fff;

describe('a broadcast without its teletext', () => {
  for (const [sounds, subtitles, kept] of [
    [1, 1, 1],
    [6, 14, 6],
    [8, 30, 4],
  ] as const)
    it(`has a whole program map in one packet: ${sounds} sounds, ${kept} of ${subtitles} picture subtitles`, () => {
      const filter = new SubtitleFilter();
      const passed = broadcast(sounds, subtitles).flatMap((one) => filter.pass(one) ?? []);
      const maps = passed.filter((one) => pidOf(one) === PMT);
      expect(maps.map((one) => (one[3] ?? 0) & 15)).to.deep.equal([0, 1, 2]);
      for (const one of maps) {
        const length = 3 + (one.readUInt16BE(6) & 0xfff);
        const whole = one.subarray(5, 5 + length);
        expect(sectionCheck(whole), 'its check').to.equal(0);
        expect(length).to.equal(12 + 5 + sounds * 11 + kept * 15 + 4);
        expect(whole.includes(Buffer.from(TELETEXT))).to.equal(false);
      }
      const others = passed.map(pidOf).filter((pid) => pid !== PMT && pid !== 0);
      expect([...new Set(others)]).to.deep.equal(
        subtitles === 1 ? [VIDEO, AUDIO, SUBTITLES, SUBTITLES + 9] : [VIDEO, AUDIO, SUBTITLES],
      );
    });

  it('stays as it is where the sounds alone need several packets', () => {
    const filter = new SubtitleFilter();
    const sent = broadcast(30, 2);
    const passed = sent.flatMap((one) => filter.pass(one) ?? []);
    expect(passed.slice(-14).map(pidOf)).to.deep.equal(sent.slice(-14).map(pidOf));
  });
});
