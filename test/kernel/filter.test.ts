import { expect } from 'chai';
import fc from 'fast-check';
import { ApiError } from '#kernel/errors.ts';
import {
  conditionsOf,
  type FieldTable,
  type Operator,
  operators,
  operatorsOf,
  parseFilter,
  parseRules,
  printFilter,
  printRules,
  type Rule,
  RuleGroup,
  type Rules,
  withoutField,
} from '#kernel/filter.ts';
import { parseDate } from '#kernel/filter-fields.ts';

const fields: FieldTable = {
  title: { kind: 'text' },
  year: { kind: 'number', integer: true },
  rating: { kind: 'number' },
  added_at: { kind: 'date' },
  watched: { kind: 'boolean' },
  genre: { kind: 'tag' },
  person: { kind: 'person' },
  hdr: { kind: 'enum', values: ['hdr10', 'hlg'] },
  runtime_ms: { kind: 'duration' },
  language: { kind: 'language' },
};

/** Issues of a refusal as `number code`. */
function refusals(run: () => unknown): string[] {
  try {
    run();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { issues } = error.details as { issues: { path: (string | number)[]; code: string }[] };
    return issues.map((issue) => `${issue.path.slice(2).join('.')} ${issue.code}`.trim());
  }
  return [];
}

const text = fc.string({ minLength: 1, maxLength: 12 }).filter((value) => !value.includes('\0'));
const tricky = fc.stringMatching(/^[a-z;,:\\%_'"$?]{1,10}$/);

/** A condition that is right for its field. */
const condition = fc.constantFrom(...Object.keys(fields)).chain((field) => {
  const spec = fields[field];
  if (!spec) throw new Error(field);
  return fc.constantFrom(...operatorsOf(spec)).chain((op) => {
    const value: fc.Arbitrary<string> = {
      text: fc.oneof(text, tricky),
      tag: fc.oneof(text, tricky),
      person: text,
      number: fc.integer({ min: -9999, max: 9999 }).map(String),
      duration: fc.nat().map(String),
      bytes: fc.nat().map(String),
      date: fc.constantFrom('now', 'now-30d', 'now+2w', '2024-02-29', '2024-01-01T10:20:30Z', 'now-1y'),
      boolean: fc.constantFrom('true', 'false'),
      enum: fc.constantFrom('hdr10', 'hlg'),
      language: fc.constantFrom('en', 'pt-BR'),
    }[spec.kind];
    const count = op === 'between' ? [2, 2] : op === 'in' || op === 'nin' ? [1, 4] : [1, 1];
    const values =
      op === 'exists'
        ? fc.constantFrom(['true'], ['false'])
        : fc.array(value, { minLength: count[0] ?? 1, maxLength: count[1] ?? 1 });
    return values.map((list) => ({ field, op: op as Operator, values: list }));
  });
});

describe('parseFilter', () => {
  it('reads conditions joined by ; with lists by , and escapes', () => {
    expect(parseFilter('year:gte:2000;genre:in:Drama,Sci-Fi', fields)).to.deep.equal({
      all: [
        { field: 'year', op: 'gte', values: ['2000'] },
        { field: 'genre', op: 'in', values: ['Drama', 'Sci-Fi'] },
      ],
    });
    expect(conditionsOf(parseFilter('title:eq:a\\;b\\,c\\:d\\\\', fields))[0]?.values).to.deep.equal(['a;b,c:d\\']);
    expect(conditionsOf(parseFilter('title:eq:C:\\x', fields))[0]?.values).to.deep.equal(['C:\\x']);
    expect(parseFilter('', fields)).to.deep.equal({ all: [] });
    expect(parseFilter(undefined, fields)).to.deep.equal({ all: [] });
  });

  it('reports all problems at once, each with its condition', () => {
    const problems = (filter: string): string[] => refusals(() => parseFilter(filter, fields));
    expect(problems('nope:eq:1;year:contains:2;year:gte:x;title;year:eq:2000')).to.deep.equal([
      '0 unknown_field',
      '1 bad_operator',
      '2 bad_value',
      '3 malformed',
    ]);
    expect(problems('year:between:2000')).to.deep.equal(['0 bad_value']);
    expect(problems('year:eq:2000,2001')).to.deep.equal(['0 bad_value']);
    expect(problems('year:eq:2000.5')).to.deep.equal(['0 bad_value']);
    expect(problems('hdr:eq:bright')).to.deep.equal(['0 bad_value']);
    expect(problems('title:exists:maybe')).to.deep.equal(['0 bad_value']);
    expect(problems('title:eq:')).to.deep.equal(['0 bad_value']);
    expect(problems('title:eq:a\0b')).to.deep.equal(['0 bad_value']);
    expect(problems('added_at:gte:2023-02-29')).to.deep.equal(['0 bad_value']);
    expect(problems('constructor:eq:1;__proto__:eq:1')).to.deep.equal(['0 unknown_field', '1 unknown_field']);
    expect(problems('title:eq:a;')).to.deep.equal(['1 malformed']);
  });

  it('takes 20 conditions and 2,000 characters, no more', () => {
    const many = (count: number): string => new Array(count).fill('year:eq:1').join(';');
    expect(conditionsOf(parseFilter(many(20), fields))).to.have.length(20);
    expect(refusals(() => parseFilter(many(21), fields))).to.deep.equal(['too_many']);
    expect(refusals(() => parseFilter(`title:eq:${'x'.repeat(1992)}`, fields))).to.deep.equal(['too_big']);
  });

  it('throws nothing but 400 for any text', () => {
    const pieces = fc.array(
      fc.constantFrom(...Object.keys(fields), ...operators, ':', ';', ',', '\\', 'now-', '1', '\0'),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          pieces.map((list) => list.join('')),
        ),
        (filter) => {
          refusals(() => parseFilter(filter, fields)); // throws on errors that are no ApiError
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('parses what it prints to the same rules', () => {
    fc.assert(
      fc.property(fc.array(condition, { minLength: 1, maxLength: 8 }), (all) => {
        const rules: Rules = { all };
        const printed = printFilter(rules) ?? '';
        fc.pre(printed.length <= 2000);
        expect(parseFilter(printed, fields)).to.deep.equal(rules);
        expect(parseRules(printRules(rules), fields)).to.deep.equal(rules);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('parseRules', () => {
  const leaf = { field: 'year', op: 'eq', value: 2000 } as const;

  it('reads groups of groups, three levels deep', () => {
    const group = { any: [leaf, { all: [leaf, { any: [leaf] }] }] };
    expect(RuleGroup.parse(group)).to.deep.equal(group);
    expect(conditionsOf(parseRules(group, fields))).to.have.length(3);
    expect(refusals(() => parseRules({ all: [{ all: [{ all: [{ all: [leaf] }] }] }] }, fields))).to.deep.equal([
      'all.0.all.0.all.0 too_deep'.replace(/^all\./, ''),
    ]);
  });

  it('takes 50 conditions in the whole and values of JSON kinds', () => {
    const group = (count: number): RuleGroup => ({ all: [{ any: new Array(count).fill(leaf) }, leaf] });
    expect(conditionsOf(parseRules(group(49), fields))).to.have.length(50);
    expect(refusals(() => parseRules(group(50), fields))).to.deep.equal(['too_many']);
    const rules = parseRules(
      {
        all: [
          { field: 'watched', op: 'eq', value: true },
          { field: 'title', op: 'exists' },
          { field: 'year', op: 'in', value: [1, 2] },
        ],
      },
      fields,
    );
    expect(conditionsOf(rules).map((one) => one.values)).to.deep.equal([['true'], ['true'], ['1', '2']]);
  });

  /** Groups in groups, three levels at most. */
  const groups = (level: number): fc.Arbitrary<Rules> => {
    const member: fc.Arbitrary<Rule> = level < 3 ? fc.oneof(condition, groups(level + 1)) : condition;
    return fc
      .tuple(fc.boolean(), fc.array(member, { minLength: 1, maxLength: 3 }))
      .map(([all, members]) => (all ? { all: members } : { any: members }));
  };

  it('reads what it prints as JSON to the same groups', () => {
    fc.assert(
      fc.property(groups(1), (rules) => {
        const text = JSON.stringify(printRules(rules));
        const read = RuleGroup.parse(JSON.parse(text));
        expect(JSON.stringify(printRules(parseRules(read, fields)))).to.equal(text);
        expect(parseRules(read, fields)).to.deep.equal(rules);
      }),
      { numRuns: 500 },
    );
  });

  it('throws nothing but 400 for any JSON', () => {
    const word = fc.oneof(fc.constantFrom('all', 'any', 'field', 'op', 'value', ...Object.keys(fields), ...operators));
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        ...[fc.jsonValue(), word, fc.constant(leaf)],
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(word, tie('value'), { maxKeys: 4 }),
        fc.record({ field: word, op: word, value: tie('value') }),
      ),
    })).value;
    let taken = 0;
    fc.assert(
      fc.property(fc.oneof(json, fc.record({ all: fc.array(json, { maxLength: 3 }) })), (given) => {
        const read = RuleGroup.safeParse(given);
        if (read.success) refusals(() => parseRules(read.data, fields)); // throws on errors that are no ApiError
        taken += Number(read.success);
      }),
      { numRuns: 3000 },
    );
    expect(taken, 'some are groups').to.be.greaterThan(20);
  });

  it('has no string form with an any', () => {
    expect(printFilter(parseRules({ any: [leaf, leaf] }, fields))).to.equal(undefined);
  });

  it('leaves out one field of rules, and groups that held nothing else', () => {
    const rules = parseRules({ all: [leaf, { any: [leaf] }, { field: 'hdr', op: 'eq', value: 'hlg' }] }, fields);
    expect(withoutField(rules, 'year')).to.deep.equal({ all: [{ field: 'hdr', op: 'eq', values: ['hlg'] }] });
  });
});

describe('parseDate', () => {
  const now = new Date('2026-03-31T12:00:00.000Z');
  it('counts back from now in hours, days, weeks, months and years', () => {
    const at = (value: string): string | undefined => parseDate(value, now)?.from.toISOString();
    expect(at('now-30d')).to.equal('2026-03-01T12:00:00.000Z');
    expect(at('now-2h')).to.equal('2026-03-31T10:00:00.000Z');
    expect(at('now+1w')).to.equal('2026-04-07T12:00:00.000Z');
    expect(at('now-1y')).to.equal('2025-03-31T12:00:00.000Z');
    expect(at('now-5')).to.equal(undefined);
    expect(at('now-99999y')).to.equal(undefined);
  });
  it('takes a day as all of it', () => {
    expect(parseDate('2024-02-29', now)).to.deep.equal({
      from: new Date('2024-02-29T00:00:00Z'),
      to: new Date('2024-03-01T00:00:00Z'),
    });
  });
});
