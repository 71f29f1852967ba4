import { expect } from 'chai';
import { shapeFault } from '#kernel/json-shape.ts';

const fault = (text: string) => shapeFault(Buffer.from(text));

describe('the shape of a JSON body', () => {
  it('may hold 20,000 values and no more, however they are put', () => {
    expect(fault(`[${'0,'.repeat(19_997)}0]`)).to.equal(undefined);
    for (const text of [`[${'0,'.repeat(20_000)}0]`, `[${'{},'.repeat(20_000)}0]`, `{${'"a":0,'.repeat(20_000)}"b":0}`])
      expect(fault(text), text.slice(0, 10)).to.equal('too_many_values');
  });

  it('may be 32 deep and no more', () => {
    expect(fault('['.repeat(32) + ']'.repeat(32))).to.equal(undefined);
    expect(fault('['.repeat(33))).to.equal('too_deep');
    expect(fault('{"a":'.repeat(33))).to.equal('too_deep');
  });

  it('counts no sign of a text, escaped or not', () => {
    expect(fault(JSON.stringify({ a: '[{,'.repeat(50_000), b: '\\"[[['.repeat(50_000) }))).to.equal(undefined);
    expect(fault(`"${'['.repeat(100)}`)).to.equal(undefined);
  });
});
