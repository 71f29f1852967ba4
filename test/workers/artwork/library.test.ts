import { expect } from 'chai';
import { newPicturedPlace } from './support.ts';

describe('the poster of a library', function () {
  this.timeout(60_000);

  it('is a mosaic of its newest items until one is chosen, for those who see all of it', async () => {
    const place = await newPicturedPlace('movies');
    const { api, libraryId } = place;
    const { db } = api.deps;
    await db('libraries').where({ id: libraryId }).update({ everyone: true });
    const admin = api.as(await api.given.admin());
    const child = api.as(await api.given.child(12));
    const posterOf = async (who = admin) =>
      (await who.getLibrary({ params: { id: libraryId } } as never)).body.poster as {
        id: string;
        version: string;
      } | null;
    expect(await posterOf()).to.equal(null);
    for (const [n, colour] of ['#c04020', '#20c040', '#2040c0', '#c0c020'].entries()) {
      await place.put(`Film ${n} (200${n})/Film ${n} (200${n}).mkv`);
      await place.picture(`Film ${n} (200${n})/poster.jpg`, { colour });
    }
    await place.show();
    const poster = await posterOf();
    expect(poster).to.include({ kind: 'poster', width: 800, height: 1200 });
    const get = (who: typeof admin) =>
      who.getImage({ params: { id: poster?.id ?? '' }, query: { width: 160 } } as never);
    expect((await get(admin)).status).to.equal(200);
    expect(await posterOf(child)).to.equal(null);
    expect((await get(child)).status, 'a mosaic may show hidden items').to.equal(404);
    await place.age();
    await place.show();
    expect(await posterOf()).to.deep.equal(poster);
    await place.put('Film 5 (2005)/Film 5 (2005).mkv');
    await place.picture('Film 5 (2005)/poster.jpg', { colour: '#ffffff' });
    await place.show();
    expect(await posterOf()).to.include({ id: poster?.id, version: '2' });

    const [chosen] = await place.images('Film 0');
    const choose = (posterImageId: string | null) =>
      admin.updateLibrary({ params: { id: libraryId }, body: { posterImageId } } as never);
    await choose(chosen?.id ?? '');
    expect((await posterOf())?.id).to.equal(chosen?.id);
    await choose(null);
    expect((await posterOf())?.id).to.equal(poster?.id);
  });
});
