import { expect } from 'chai';
import { parseFilter, printFilter } from '../../../web/src/core/filter/parse.ts';
import { hasValue, toggled, valuesOf, without } from '../../../web/src/core/filter/rules.ts';

describe('filter text', () => {
  it('is read and written with every mark escaped', () => {
    const conditions = [
      { field: 'genre', op: 'in', values: ['Sci-Fi, Fantasy', 'a;b:c\\d'] },
      { field: 'watched', op: 'eq', values: ['false'] },
    ];
    expect(parseFilter(printFilter(conditions))).to.deep.equal(conditions);
    expect(printFilter(conditions)).to.equal('genre:in:Sci-Fi\\, Fantasy,a\\;b\\:c\\\\d;watched:eq:false');
  });

  it('leaves out malformed conditions', () => {
    expect(parseFilter('')).to.deep.equal([]);
    expect(parseFilter(null)).to.deep.equal([]);
    expect(parseFilter('nonsense;year:eq:1999;:eq:1')).to.deep.equal([{ field: 'year', op: 'eq', values: ['1999'] }]);
  });

  it('joins several values of a field in one condition', () => {
    const one = toggled([], 'genre', 'Drama');
    const two = toggled(one, 'genre', 'Noir');
    expect(printFilter(two)).to.equal('genre:in:Drama,Noir');
    expect(hasValue(two, 'genre', 'drama'), 'tags are compared without case').to.equal(true);
    expect(printFilter(toggled(two, 'genre', 'NOIR'))).to.equal('genre:eq:Drama');
    expect(valuesOf(two, 'genre')).to.deep.equal(['Drama', 'Noir']);
    expect(printFilter(toggled(two, 'genre', 'Drama'))).to.equal('genre:eq:Noir');
    expect(toggled(toggled([], 'genre', 'Drama'), 'genre', 'Drama')).to.deep.equal([]);
    const [first] = two;
    expect(first && without(two, first)).to.deep.equal([]);
  });
});
