import { expect } from 'chai';
import { errorOf as failureOf } from '#support/answers.ts';
import { png } from '#support/pictures.ts';
import { makeFrames } from '#workers/artwork/frames.ts';
import { purgeUser } from '#workers/user-purge.ts';
import { newPicturedPlace } from '../../workers/artwork/support.ts';

describe('pictures and owners of collections', function () {
  this.timeout(60_000);

  it('shows a picture of its first items to those who see each of them, until a poster is chosen', async () => {
    const place = await newPicturedPlace('movies');
    const { api, libraryId } = place;
    const { db } = api.deps;
    await db('libraries').where({ id: libraryId }).update({ everyone: true });
    const admin = api.as(await api.given.admin());
    const child = api.as(await api.given.child(12));
    for (const [n, colour] of ['#c04020', '#20c040', '#2040c0', '#c0c020', '#808080'].entries()) {
      await place.put(`Film ${n} (200${n})/Film ${n} (200${n}).mkv`);
      await place.picture(`Film ${n} (200${n})/poster.jpg`, { colour });
    }
    await place.show();
    const items = await db('items').where({ library_id: libraryId }).orderBy('title').select<{ id: string }[]>('id');
    const itemIds = items.map(({ id }) => id);
    const body = { name: 'Colours', itemIds, sharing: 'everyone' as const };
    const { id } = (await admin.createCollection({ body })).body;
    const job = await db('jobs')
      .where({ kind: 'artwork.frames' })
      .whereRaw(`payload ->> 'collectionId' = ?`, [id])
      .first('id');
    expect(job).to.not.equal(undefined);
    expect(await makeFrames({ collectionId: id }, place.work())).to.deep.equal({ made: 1 });
    expect(await makeFrames({ collectionId: id }, place.work()), 'of the same items').to.deep.equal({ made: 0 });
    const artworkFor = async (who: typeof admin) => (await who.getCollection({ params: { id } })).body.artwork;
    const { poster, mosaic } = await artworkFor(admin);
    expect(poster).to.include({ kind: 'poster', width: 800, height: 1200 });
    expect(mosaic).to.have.length(4);
    const bytesFor = async (who: typeof admin) =>
      (await who.getImage({ params: { id: poster?.id ?? '' }, query: { width: 160 } } as never)).status;
    expect([await bytesFor(admin), await bytesFor(child)]).to.deep.equal([200, 200]);
    await db('items').where({ id: itemIds[1] }).update({ age_years: 18 });
    expect(await artworkFor(child)).to.not.have.property('poster');
    expect([await bytesFor(admin), await bytesFor(child)]).to.deep.equal([200, 404]);

    const update = (change: object) => admin.updateCollection({ params: { id }, body: change as never });
    const [own] = await place.images('Film 1');
    await update({ posterImageId: own?.id });
    expect((await artworkFor(admin)).poster?.id).to.equal(own?.id);
    expect(await artworkFor(child), 'of a hidden item').to.not.have.property('poster');
    await admin.changeCollectionItems({ params: { id }, body: { remove: [itemIds[4] ?? ''] } });
    const [foreign] = await place.images('Film 4');
    const refused = await update({ posterImageId: foreign?.id });
    expect(failureOf(refused).details.issues[0].code).to.equal('unknown_image');
    const form = new FormData();
    form.append('poster', new Blob([await png(200, 300)], { type: 'image/png' }));
    form.append('name', 'Mine');
    const answer = await admin.updateCollection({ params: { id }, body: form as never });
    expect(answer.body).to.include({ name: 'Mine' });
    expect(answer.body.artwork.poster).to.include({ width: 200, height: 300 });
    await update({ posterImageId: null });
    expect((await artworkFor(admin)).poster?.id).to.equal(poster?.id);
    await admin.deleteCollection({ params: { id } });
    expect(await db('images').where({ owner_id: id })).to.deep.equal([]);
    await passing(api);
  });

  /** Shared ones of a removed account pass on, private ones go. */
  async function passing(api: Awaited<ReturnType<typeof newPicturedPlace>>['api']): Promise<void> {
    const { db } = api.deps;
    const admin = api.as(await api.given.admin());
    const work = { ...api.deps, signal: new AbortController().signal } as never;
    const [film] = await db('items').whereNull('trashed_at').limit(1).select<{ id: string }[]>('id');
    const leave = async (name: string, transferTo?: string) => {
      const leaving = await api.given.member();
      const me = api.as(leaving);
      const itemIds = [film?.id ?? ''];
      await me.createCollection({ body: { name: 'Secret', itemIds } });
      const { id } = (await me.createCollection({ body: { name, itemIds, sharing: 'everyone' } })).body;
      await db('accounts').where({ id: leaving.accountId }).update({ deleted_at: new Date(), disabled: true });
      await purgeUser({ accountId: leaving.accountId, ...(transferTo && { transferTo }) }, work);
      return (await admin.getCollection({ params: { id } })).body;
    };
    const first = await leave('Left');
    expect(first).to.include({ name: 'Left', canEdit: true }).and.not.have.property('owner');
    expect(await leave('LEFT')).to.include({ name: 'LEFT (2)' });
    const heir = await api.given.member();
    expect((await leave('Left', heir.accountId)).owner?.userId).to.equal(heir.accountId);
    expect(await db('collections').where({ name: 'Secret' })).to.deep.equal([]);
  }
});
