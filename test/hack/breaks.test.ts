import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { broken } from '../../hack/breaks/break.ts';
import { breaks } from '../../hack/breaks/list.ts';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

describe('the breaks on purpose', () => {
  it('each apply at one place of their file, and change it', () => {
    const without = breaks.filter((one) => {
      const source = read(one.file);
      return [undefined, source].includes(broken(source, one));
    });
    expect(without.map(({ rule }) => rule)).to.deep.equal([]);
  });

  it('each name a test that exists', () => {
    const hasTest = ({ test, title }: (typeof breaks)[number]): boolean =>
      new RegExp(`\\bit\\(\\s*(['"\`])(?:(?!\\1).)*${escaped(title)}`).test(read(test));
    expect(breaks.filter((one) => !hasTest(one)).map(({ rule }) => rule)).to.deep.equal([]);
  });

  it('each have a rule of their own', () => {
    expect(new Set(breaks.map(({ rule }) => rule)).size).to.equal(breaks.length);
  });

  it('do not apply to a text that is absent or occurs twice', () => {
    const one = { text: 'a', instead: 'b' };
    expect(['a', 'c', 'a a'].map((source) => broken(source, one))).to.deep.equal(['b', undefined, undefined]);
  });
});
