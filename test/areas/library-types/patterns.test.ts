import { expect } from 'chai';
import fc from 'fast-check';
import { compilePattern } from '#areas/library-types/naming/match.ts';
import { parsePattern } from '#areas/library-types/naming/pattern.ts';
import { fitsSample, readerOf } from '#areas/library-types/naming/rules.ts';

const read = (pattern: string, text: string) => compilePattern(pattern)?.match(text);

/** A part of a pattern with the regular expression that means the same, which is good enough for short texts. */
interface Part {
  pattern: string;
  model: string;
}

const literal = fc.constantFrom('a', 'B', ' ', '-', '.', '(', ')', '1', '20').map((text): Part => {
  return { pattern: text, model: text.replace(/[.()]/g, '\\$&') };
});
const models: Readonly<Record<string, string>> = {
  title: '[^/]+?',
  parent: '[^/]+?',
  '*': '[^/]+?',
  index: '\\d{1,6}(?!\\d)',
  year: '\\d{4}(?!\\d)',
};
const placeholder = fc.constantFrom(...Object.keys(models)).map((name): Part => {
  const group = name === '*' ? '?:' : `?<${name}>`;
  return { pattern: `{${name}}`, model: `(${group}${models[name]})` };
});
const slash = fc.constant<Part>({ pattern: '/', model: '/' });
const plain = fc.oneof({ weight: 3, arbitrary: literal }, { weight: 4, arbitrary: placeholder }, slash);
const optional = fc.array(plain, { minLength: 1, maxLength: 3 }).map((parts): Part => {
  return {
    pattern: `[${parts.map((one) => one.pattern).join('')}]`,
    model: `(?:${parts.map((one) => one.model).join('')})?`,
  };
});
const parts = fc.array(fc.oneof({ weight: 4, arbitrary: plain }, { weight: 1, arbitrary: optional }), {
  minLength: 1,
  maxLength: 6,
});
const texts = fc.string({
  unit: fc.constantFrom('a', 'b', ' ', '-', '.', '(', ')', '1', '2', '0', '/'),
  maxLength: 14,
});

describe('Naming patterns', () => {
  it('read what regular expressions of the same meaning read', () => {
    let fits = 0;
    fc.assert(
      fc.property(parts, texts, (all, text) => {
        const pattern = all.map((one) => one.pattern).join('');
        if (parsePattern(pattern).faults.length > 0) return;
        const found = new RegExp(`^${all.map((one) => one.model).join('')}$`, 'i').exec(text);
        const values = read(pattern, text);
        expect(values !== undefined, `${pattern} on ${JSON.stringify(text)}`).to.equal(found !== null);
        if (!found) return;
        fits += 1;
        const groups = Object.entries(found.groups ?? {}).filter(
          ([, value]) => value !== undefined && value.trim() !== '',
        );
        const wanted = groups.map(([name, value]) => [
          name,
          ['index', 'year'].includes(name) ? Number(value) : value.trim(),
        ]);
        expect(values, `${pattern} on ${JSON.stringify(text)}`).to.deep.equal(Object.fromEntries(wanted));
      }),
      { numRuns: 20_000 },
    );
    expect(fits, 'enough of them fit').to.be.greaterThan(500);
  });

  it('read each placeholder', () => {
    expect(read('{grandparent}/{parent}/{index} - {title}', 'Björk/Homogenic/03 - Unravel')).to.deep.equal({
      ...{ grandparent: 'Björk', parent: 'Homogenic', index: 3, title: 'Unravel' },
    });
    expect(read('{date} {title}[ ({edition})]', '1997-07-24 Roseland NYC (Video)')).to.deep.equal({
      ...{ date: '1997-07-24', title: 'Roseland NYC', edition: 'Video' },
    });
    expect(read('{date} {title}', '19970724 x')).to.include({ date: '1997-07-24' });
    expect(read('{date} {title}', '1997.02.30 x')).to.equal(undefined);
    expect(read('{title}.{language}', 'Amélie.pt-BR')).to.deep.equal({ title: 'Amélie', language: 'pt-BR' });
    expect(read('{title}[ cd{part}]', 'Film CD2')).to.deep.equal({ title: 'Film', part: 2 });
    expect(read('{title} part {part}', 'Film part b')).to.deep.equal({ title: 'Film', part: 2 });
    expect(read('{custom.venue} - {title}', 'Wembley - Live')).to.deep.equal({
      'custom.venue': 'Wembley',
      title: 'Live',
    });
    expect(read('\\[{title}\\] \\\\', '[x] \\')).to.deep.equal({ title: 'x' });
    expect(read('S{index2}E{index}', 's01e002')).to.deep.equal({ index2: 1, index: 2 });
    expect(read('{title}', 'a/b')).to.equal(undefined);
  });

  it('have faults for each mistake', () => {
    const codes = (pattern: string) => parsePattern(pattern).faults.map(({ code }) => code);
    expect(codes('{nothing}')).to.deep.equal(['unknown_placeholder']);
    expect(codes('{custom.Bad key}')).to.deep.equal(['unknown_placeholder']);
    expect(codes('{title} {title}')).to.deep.equal(['duplicate_placeholder']);
    for (const pattern of ['[', ']', '{title', 'a}', '[[[[[[x]]]]]]'])
      expect(codes(pattern), pattern).to.include('malformed_pattern');
  });

  it('take the first rule that fits, of the name, the folder or the path', () => {
    const extensions = new Set(['mkv']);
    const rules = [
      { pattern: '{parent}/{title} ({year})', sample: 'a/b (1999)', on: 'path' as const },
      { pattern: 'Live {year}', sample: 'Live 1999', on: 'folder' as const },
      { pattern: '{title}', sample: 'x', on: 'name' as const },
    ];
    const of = readerOf(rules, extensions);
    expect(of('Band/Show (1999).mkv')).to.deep.equal({
      rule: 0,
      values: { parent: 'Band', title: 'Show', year: 1999 },
    });
    expect(of('Band/Live 2001/1.mkv')).to.deep.equal({ rule: 1, values: { year: 2001 } });
    expect(of('Mr. Show.mkv')).to.deep.equal({ rule: 2, values: { title: 'Mr. Show' } });
    expect(fitsSample({ pattern: '{title} ({year})', sample: 'Film (1999).mkv', on: 'name' }, extensions)).to.equal(
      true,
    );
    expect(fitsSample({ pattern: '{title} ({year})', sample: 'Film', on: 'name' }, extensions)).to.equal(false);
  });

  it('stay linear on hostile patterns and names', () => {
    const long = 2000;
    const hostile: [string, string][] = [
      ['{*}{title}{*}{parent}{*}{grandparent}{*}{edition}{*}x', 'a'.repeat(long)],
      [`${'[a]'.repeat(60)}b`, 'a'.repeat(long)],
      [`${'[{*}a]'.repeat(30)}b`, 'a'.repeat(long)],
      [`${'[[[a]a]a]'.repeat(20)}b`, 'a'.repeat(long)],
      [`{*}${'-{*}'.repeat(40)}!`, '-'.repeat(long)],
      ['{title}[ {index}][ {index2}][ {year}]{*}/', `${' 1234'.repeat(400)}`],
    ];
    for (const [pattern, text] of hostile) {
      const matcher = compilePattern(pattern);
      expect(matcher, pattern).to.not.equal(undefined);
      const begun = process.cpuUsage();
      expect(matcher?.match(text), pattern).to.equal(undefined);
      const { user, system } = process.cpuUsage(begun);
      expect((user + system) / 1000, `${pattern} took ms`).to.be.lessThan(1000);
    }
  });
});
