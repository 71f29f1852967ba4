import { expect } from 'chai';
import { bounded } from '../../hack/expressions/bounded.ts';
import { expressionsOf, findExpressions } from '../../hack/expressions/found.ts';
import { allExpressions, knownVerdicts, spelling, type Verdict, verdictOf } from '../../hack/expressions/verdicts.ts';

const root = new URL('../../', import.meta.url).pathname;

describe('regular expressions', () => {
  const verdicts = new Map<string, Verdict>();
  /** The place of each expression that needs a reviewed bound. */
  let doubtful: { file: string; expression: string; why: string }[];

  before(async function () {
    this.timeout(300_000);
    const known = knownVerdicts();
    for (const one of allExpressions()) {
      const words = spelling(one);
      if (!verdicts.has(words)) verdicts.set(words, known.get(words) ?? (await verdictOf(one)));
    }
    const written = allExpressions().map((one) => ({
      file: one.file,
      expression: spelling(one),
      why: verdicts.get(spelling(one)) ?? '',
    }));
    const made = findExpressions(root).made.map(({ file, code }) => ({
      file,
      expression: code,
      why: 'made at run time',
    }));
    doubtful = [...written.filter(({ why }) => why !== 'linear'), ...made];
  });

  const same = (a: { file: string; expression: string }) => (b: { file: string; expression: string }) =>
    a.file === b.file && a.expression === b.expression;

  it('take time in proportion to the text, or are listed with their bound (hack/expressions/bounded.ts)', () => {
    const listed = (one: { file: string; expression: string }): boolean => bounded.some(same(one));
    expect(doubtful.filter((one) => !listed(one))).to.deep.equal([]);
  });

  it('are listed only where they are', () => {
    expect(bounded.filter((one) => !doubtful.some(same(one)))).to.deep.equal([]);
  });

  it('are found by a parser wherever they are, and distinguished by it', () => {
    const { written, made } = expressionsOf(
      'a.ts',
      "const a = b / c / d; const e = /x+/g; new RegExp('y+', 'i'); RegExp(`z`); new RegExp(a); // /no/\n'/no/';",
    );
    expect(written.map(spelling).sort()).to.deep.equal(['/x+/g', '/y+/i', '/z/']);
    expect(made.map(({ code }) => code)).to.deep.equal(['new RegExp(a)']);
  });

  it('are judged: of each kind one', async () => {
    expect(await verdictOf({ source: '^(a+)+$', flags: '' })).to.equal('exponential');
    expect(await verdictOf({ source: '\\s+$', flags: '' })).to.equal('polynomial 2');
    expect(await verdictOf({ source: '^a+$', flags: '' })).to.equal('linear');
  });
});
