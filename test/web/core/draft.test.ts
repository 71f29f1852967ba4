import { expect } from 'chai';
import {
  bodyOf,
  compared,
  dropped,
  entered,
  isChanged,
  kept,
  returned,
  UNCHANGED,
} from '../../../web/src/core/editing/draft.ts';
import { shaped } from '../../../web/src/core/editing/fields.ts';
import { draftOf, keepDraft } from '../../../web/src/core/editing/keep.ts';

describe('a draft of edits', () => {
  it('has what differs from the item, and nothing else', () => {
    const typed = entered(UNCHANGED, 'title', { value: 'New', held: 'Old' });
    expect(typed).to.deep.equal({ changes: { title: 'New' }, base: { title: 'Old' } });
    expect(isChanged(entered(typed, 'title', { value: 'Old', held: 'Old' }))).to.equal(false);
    expect(isChanged(entered(UNCHANGED, 'genres', { value: [], held: null }))).to.equal(false);
    expect(returned(UNCHANGED, 'title', 'Old').changes).to.deep.equal({ title: null });
  });

  it('finds the fields that somebody else changed, and drops what they changed in the same way', () => {
    let draft = entered(UNCHANGED, 'title', { value: 'Mine', held: 'Old' });
    draft = entered(draft, 'year', { value: 1922, held: 1921 });
    draft = entered(draft, 'tagline', { value: 'Mine too', held: null });
    const found = compared(draft, { title: 'Theirs', year: 1922, tagline: null });
    expect(found.conflicts).to.deep.equal(['title']);
    expect(found.draft.changes).to.deep.equal({ title: 'Mine', tagline: 'Mine too' });
    const held = { title: 'Theirs', tagline: null };
    expect(compared(kept(found.draft, 'title', 'Theirs'), held).conflicts).to.deep.equal([]);
    expect(dropped(found.draft, 'title').changes).to.deep.equal({ tagline: 'Mine too' });
  });

  it('becomes a body with people by id or name, ids by provider and members by file', () => {
    let draft = entered(UNCHANGED, 'externalIds', {
      value: { imdb: 'tt1', tvdb: '5' },
      held: { imdb: 'tt1', tmdb: '2' },
    });
    const people = [
      { personId: 'p1', name: 'Max', role: 'actor' },
      { name: 'Greta', role: 'actor' },
    ];
    draft = entered(draft, 'people', { value: people, held: null });
    draft = entered(draft, 'edition:f1', { value: 'Final cut', held: null });
    draft = returned(draft, 'chapters:f2', [{ title: 'One', startMs: 0 }]);
    expect(bodyOf(draft)).to.deep.equal({
      externalIds: { tmdb: null, tvdb: '5' },
      people: [
        { personId: 'p1', role: 'actor' },
        { name: 'Greta', role: 'actor' },
      ],
      edition: { f1: 'Final cut' },
      chapters: { f2: null },
    });
  });

  it('has values in one shape, whatever the order of their members', () => {
    expect(JSON.stringify(shaped('people', [{ role: 'actor', guest: true, name: 'Max' }]))).to.equal(
      '[{"name":"Max","role":"actor"}]',
    );
    expect(JSON.stringify(shaped('externalIds', { tmdb: '2', imdb: 'tt1' }))).to.equal('{"imdb":"tt1","tmdb":"2"}');
    expect(shaped('place', { longitude: 2, latitude: 1, city: 'Bonn' })).to.deep.equal({ latitude: 1, longitude: 2 });
    expect(shaped('year', undefined)).to.equal(null);
  });

  it('is kept for each account and item; the oldest of many gives way', () => {
    const values = new Map<string, string>();
    const store = {
      getItem: (name: string) => values.get(name) ?? null,
      setItem: (name: string, value: string) => void values.set(name, value),
      removeItem: (name: string) => void values.delete(name),
    };
    const draft = entered(UNCHANGED, 'title', { value: 'New', held: 'Old' });
    keepDraft(store, { accountId: 'a', itemId: '0', draft });
    expect(draftOf(store, 'a', '0')).to.deep.equal(draft);
    expect(draftOf(store, 'b', '0')).to.equal(undefined);
    for (let n = 1; n <= 30; n += 1) keepDraft(store, { accountId: 'a', itemId: `${n}`, draft });
    expect([draftOf(store, 'a', '0'), draftOf(store, 'a', '1')]).to.deep.equal([undefined, draft]);
    for (let n = 1; n <= 30; n += 1) keepDraft(store, { accountId: 'a', itemId: `${n}`, draft: undefined });
    expect(values.size).to.equal(0);
  });
});
