import { expect } from 'chai';
import { editOf, undoOf } from '../../../web/src/core/editing/bulk.ts';

const former = (itemId: string, more: object = {}) => ({ itemId, lockedFields: [], fields: [], labels: [], ...more });
const origin = (field: string, source: string, value: unknown) => ({ field, source, value, locked: true }) as never;

describe('changes of many items', () => {
  it('become the members of one request', () => {
    const people = [
      { personId: 'p', name: 'Max Schreck', role: 'actor', character: '' },
      { name: 'Ada', role: 'writer' },
    ];
    expect(
      editOf([
        { field: 'genres', how: 'add', value: ['Horror'] },
        { field: 'genres', how: 'remove', value: ['Drama'] },
        { field: 'year', how: 'set', value: 1922 },
        { field: 'studios', how: 'back', value: null },
        { field: 'people', how: 'add', value: people },
      ]),
    ).to.deep.equal({
      set: { year: 1922, studios: null },
      add: {
        genres: ['Horror'],
        people: [
          { personId: 'p', role: 'actor' },
          { name: 'Ada', role: 'writer' },
        ],
      },
      remove: { genres: ['Drama'] },
    });
  });

  it('are no request without a value, or with a field that is changed in two ways', () => {
    expect(editOf([])).to.equal(undefined);
    expect(editOf([{ field: 'year', how: 'set', value: null }])).to.equal(undefined);
    expect(editOf([{ field: 'tags', how: 'add', value: [] }])).to.equal(undefined);
    const add = { field: 'genres', how: 'add', value: ['a'] } as const;
    expect(editOf([add, { ...add, how: 'set' }])).to.equal(undefined);
    expect(editOf([add, add])).to.equal(undefined);
  });

  it('are taken back by the former values, in one call for all items that had the same', () => {
    const changes = [
      { field: 'genres', how: 'add', value: ['Horror'] },
      { field: 'year', how: 'set', value: 1922 },
    ] as const;
    const undo = undoOf(changes, [
      former('a'),
      former('b', { lockedFields: ['genres'], fields: [origin('genres', 'person', ['Mine'])] }),
      former('c', { lockedFields: ['year'], fields: [origin('year', 'agent', 1921)] }),
    ]);
    expect(undo.bulk).to.deep.equal([{ set: { genres: null, year: null } }, { set: { genres: ['Mine'], year: null } }]);
    expect(undo.items).to.deep.equal([['a', 'c'], ['b']]);
    expect(undo.locks).to.deep.equal([{ itemId: 'c', fields: ['year'] }]);
    expect(undo.people).to.deep.equal([]);
  });

  it('give back labels only where they were other ones, and credits item by item', () => {
    const changes = [
      { field: 'labels', how: 'add', value: ['new'] },
      { field: 'labels', how: 'remove', value: ['old'] },
      { field: 'people', how: 'remove', value: [{ name: 'Ada', role: 'writer' }] },
    ] as const;
    const credits = [{ personId: 'p', name: 'Ada', role: 'writer' }];
    const undo = undoOf(changes, [
      former('a', { labels: ['old'] }),
      former('b', { labels: ['new'], lockedFields: ['people'], fields: [origin('people', 'person', credits)] }),
    ]);
    expect(undo.bulk).to.deep.equal([{ add: { labels: ['old'] }, remove: { labels: ['new'] } }]);
    expect(undo.items).to.deep.equal([['a']]);
    expect(undo.people).to.deep.equal([
      { itemId: 'a', body: { people: null } },
      { itemId: 'b', body: { people: [{ personId: 'p', role: 'writer' }] } },
    ]);
  });
});
