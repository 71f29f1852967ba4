import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { EventFacts } from '#platform/events.ts';
import { asVisibleTo } from '../../../api/areas/events/audience.ts';
import type { VisibilityClass } from '../../../api/areas/events/reader.ts';
import { up } from '../../../api/platform/migrations/20261122160000_items_age_years.ts';
import { newPlace } from './support.ts';

describe('library.scan and the age that a film is from', function () {
  this.timeout(120_000);

  it('hides a film from profiles that are too young for the rating in its NFO file, and announces it to no others', async () => {
    const place = await newPlace('movies');
    const { api, libraryId } = place;
    await place.put('First (2000)/First (2000).mkv');
    await place.scan();
    for (const [name, rating] of [
      ['Late (2001)', 'Rated R for language'],
      ['Early (2002)', 'FSK 0'],
      ['None (2003)', 'NR'],
    ] as const) {
      await place.put(`${name}/${name}.mkv`);
      await writeFile(
        join(place.path, name, 'movie.nfo'),
        `<movie><title>${name}</title><mpaa>${rating}</mpaa></movie>`,
      );
    }
    await place.scan();
    const child = await api.given.member();
    const seenBy = async (rule: object): Promise<string[]> => {
      await api.deps.db('accounts').where({ id: child.accountId }).update(rule);
      const { body } = await api.as(child).listLibraryItems({ params: { id: libraryId }, query: { sort: 'title' } });
      return body.items.map(({ title }) => title.split(' ')[0] ?? '');
    };
    expect(await seenBy({ age_limit: 12 })).to.deep.equal(['Early', 'First', 'None']);
    expect(await seenBy({ age_limit: 17 })).to.deep.equal(['Early', 'First', 'Late', 'None']);
    expect(await seenBy({ age_limit: 12, hide_unrated: true })).to.deep.equal(['Early']);
    const facts = await api.deps
      .db('outbox')
      .where({ event: 'item.added' })
      .whereRaw(`facts ->> 'libraryId' = ?`, [libraryId])
      .select<{ payload: { title: string }; facts: { ageYears?: number } }[]>('payload', 'facts');
    expect(Object.fromEntries(facts.map((one) => [one.payload.title, one.facts.ageYears]))).to.deep.equal({
      'Late (2001)': 17,
      'Early (2002)': 0,
      'None (2003)': undefined,
    });
    await writeFile(
      join(place.path, 'Late (2001)', 'movie.nfo'),
      '<movie><title>Late (2001)</title><mpaa>PG</mpaa></movie>',
    );
    await place.scan();
    expect(await seenBy({ age_limit: 12, hide_unrated: false })).to.include('Late');
    const changes = await api.deps
      .db('outbox')
      .where({ event: 'item.updated' })
      .whereRaw(`facts ->> 'libraryId' = ? and payload ->> 'title' like 'Late%'`, [libraryId])
      .select<{ event: string; facts: EventFacts }[]>('event', 'facts');
    expect(changes.map(({ facts: of }) => [of.before?.ageYears, of.ageYears])).to.deep.equal([[17, 10]]);
    const [change] = changes as [{ event: 'item.updated'; facts: EventFacts }];
    const classOf = (ageLimit: number | undefined) => ({ sees: { ageLimit, hideUnrated: false } }) as VisibilityClass;
    const announced = [12, undefined, 6].map((limit) => asVisibleTo(change, classOf(limit)).event);
    expect(announced, 'it is new to who could not see it').to.deep.equal([
      'item.added',
      'item.updated',
      'item.updated',
    ]);
  });

  it('hides the items in a show by the rating of the show, in lists and in events', async () => {
    const place = await newPlace('shows');
    const { api, libraryId } = place;
    const folder = 'Dark Place (2004)';
    await place.put(`${folder}/Season 01/${folder} - S01E01.mkv`);
    await writeFile(
      join(place.path, folder, 'tvshow.nfo'),
      '<tvshow><title>Dark Place</title><mpaa>TV-MA</mpaa></tvshow>',
    );
    await place.scan();
    await place.put(`${folder}/Season 01/${folder} - S01E02.mkv`);
    await place.scan();
    const child = api.as(await api.given.child());
    for (const view of ['items', 'all']) {
      const { body } = await child.listLibraryItems({ params: { id: libraryId }, query: { view } });
      expect(body.items, view).to.deep.equal([]);
    }
    const announced = await api.deps
      .db('outbox')
      .where({ event: 'item.added' })
      .whereRaw(`facts ->> 'libraryId' = ?`, [libraryId])
      .select<{ payload: { type: string }; facts: { ageYears?: number } }[]>('payload', 'facts');
    expect(announced.map(({ payload, facts }) => [payload.type, facts.ageYears])).to.deep.equal([['episode', 17]]);
  });

  it('is announced for films of an earlier scan, too', async () => {
    const place = await newPlace('movies');
    const { db } = place.api.deps;
    const made = async (age_rating: string) => {
      await place.put(`${age_rating.replaceAll(' ', '')} (2001)/${age_rating.replaceAll(' ', '')} (2001).mkv`);
      return age_rating;
    };
    for (const rating of ['FSK 16', 'NR']) await made(rating);
    await place.scan();
    const items = () => db('items').where({ library_id: place.libraryId });
    await items().where('title', 'like', 'FSK%').update({ age_rating: 'FSK 16' });
    await items().where('title', 'NR').update({ age_rating: 'NR' });
    const before = await db('libraries').where({ id: place.libraryId }).first<{ change_seq: number }>('change_seq');
    await up(db);
    expect(await items().orderBy('title').pluck('age_years')).to.deep.equal([16, null]);
    const after = await db('libraries').where({ id: place.libraryId }).first<{ change_seq: number }>('change_seq');
    expect(Number(after.change_seq)).to.be.greaterThan(Number(before.change_seq));
  });
});
