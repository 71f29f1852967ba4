import { expect } from 'chai';
import { type Api, startApi } from '#support/api.ts';
import { givenItem, givenLibrary, givenTag } from '#support/given-items.ts';
import { storeSimilarItems } from '#workers/items-similar.ts';
import type { Work } from '#workers/work.ts';

describe('items.similar', () => {
  let api: Api;
  before(async () => {
    api = await startApi();
  });

  const work = (more: Partial<Work> = {}): Work & { kept: unknown[] } => {
    const kept: unknown[] = [];
    const keep = async (_db: unknown, checkpoint: unknown): Promise<void> => void kept.push(checkpoint);
    const { config, db, redis, objects, settings, log } = api.deps;
    const rest = { jobId: '', attempt: 1, signal: new AbortController().signal, checkpoint: null, keep };
    return { config, db, redis, objects, settings, log, ...rest, ...more, kept } as unknown as Work & {
      kept: unknown[];
    };
  };

  it('stores neighbours by rare marks first, of the same type, and replaces them', async () => {
    const { db } = api.deps;
    const library = await givenLibrary(db, 'movies');
    const of = async (title: string, tags: string[], more: object = {}): Promise<string> => {
      const id = await givenItem(db, library, { title, year: 2000, ...more });
      for (const tag of tags) await givenTag(db, library, id, ['genre', tag]);
      return id;
    };
    const me = await of('Me', ['Rare', 'Common']);
    const rare = await of('Rare', ['Rare']);
    const common = await of('Common', ['Common']);
    await of('Common too', ['Common']);
    await of('Book', ['Rare'], { type: 'book' });
    await of('Trashed', ['Rare', 'Common'], { trashed_at: new Date() });
    const stored = async (): Promise<string[]> =>
      (await db('item_neighbours').where({ item_id: me }).orderBy('score', 'desc')).map(
        (row: { neighbour_id: string }) => row.neighbour_id,
      );

    expect(await storeSimilarItems({ itemId: me }, work())).to.deep.equal({ compared: 1 });
    expect((await stored())[0]).to.equal(rare);
    expect(await stored()).to.have.length(3);

    await db('items').where({ id: common }).update({ trashed_at: new Date() });
    const all = work();
    expect(await storeSimilarItems({ libraryId: library.id }, all)).to.deep.equal({ compared: 4 });
    expect(await stored()).to.have.length(2);
    expect(all.kept).to.have.length(1);
  });

  it('continues from its checkpoint and stops on request', async () => {
    const { db } = api.deps;
    const library = await givenLibrary(db, 'movies');
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) ids.push(await givenItem(db, library));
    ids.sort(); // those of one millisecond are in no order
    expect(await storeSimilarItems({ libraryId: library.id }, work({ checkpoint: { after: ids[0] } }))).to.deep.equal({
      compared: 2,
    });
    const stopping = storeSimilarItems({ libraryId: library.id }, work({ signal: AbortSignal.abort('stopping') }));
    expect(await stopping.catch((reason: unknown) => reason)).to.equal('stopping');
  });
});
