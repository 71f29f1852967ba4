import { Readable } from 'node:stream';
import { expect } from 'chai';
import { wholeOf } from '#platform/bytes.ts';
import { type Frame, frameReader, toFrame } from '#platform/pictures-frames.ts';

describe('frames between a server and its picture processes', () => {
  const bytes = Buffer.from(Array.from({ length: 300 }, (_, n) => n % 256));
  const sent = Buffer.concat([toFrame({ n: 1 }, bytes), toFrame({ n: 2 }), toFrame({ n: 3 }, bytes.subarray(0, 1))]);

  it('arrive whole however the pipe cuts them', () => {
    for (const size of [1, 2, 7, 8, 9, 64, 333, sent.length]) {
      const got: Frame[] = [];
      const read = frameReader(1000, (frame) => got.push(frame));
      for (let at = 0; at < sent.length; at += size) read(sent.subarray(at, at + size));
      expect(got.map(({ head }) => head)).to.deep.equal([{ n: 1 }, { n: 2 }, { n: 3 }]);
      expect(got.map((frame) => frame.bytes.length)).to.deep.equal([300, 0, 1]);
      expect(Buffer.compare(got[0]?.bytes ?? Buffer.alloc(0), bytes)).to.equal(0);
    }
  });

  it('are refused when they announce more than is allowed', () => {
    const read = frameReader(100, () => undefined);
    expect(() => read(toFrame({ n: 1 }, bytes))).to.throw('too long');
  });

  it('carry the bytes of a stream in one piece', async () => {
    const whole = await wholeOf(Readable.from([bytes.subarray(0, 10), bytes.subarray(10)]));
    expect(Buffer.compare(whole, bytes)).to.equal(0);
    expect(await wholeOf(Readable.from([bytes])), 'not copied').to.equal(bytes);
    expect((await wholeOf(Readable.from([]))).length).to.equal(0);
  });
});
