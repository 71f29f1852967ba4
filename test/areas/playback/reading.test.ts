import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { givenFile, givenItem, givenLibrary } from '#support/given-items.ts';
import { GivenPlayback } from '#support/given-playback.ts';

describe('The place in a comic', () => {
  const given = new GivenPlayback();

  it('is kept with its file and returned with the progress', async () => {
    const { db } = given.api.deps;
    const comics = await givenLibrary(db, 'comics');
    const id = await givenItem(db, comics, { type: 'comic', details: { pages: 20 } });
    const fileId = await givenFile(db, comics, id);
    const params = { id };
    expect((await given.progress(id)).reading).to.equal(undefined);
    const strange = await given.me.setReadingPosition({ params, body: { value: 'page:5', fileId: newId() } });
    expect(strange.status).to.equal(400);
    const set = await given.me.setReadingPosition({ params, body: { value: 'page:5', fileId } });
    expect(set.body).to.include({ value: 'page:5', fileId, progress: 0.25 });
    expect((await given.progress(id)).reading).to.deep.equal(set.body);
    const next = await given.me.setReadingPosition({ params, body: { value: 'page:6' } });
    expect(next.body).to.include({ value: 'page:6', fileId });
  });

  it('is replaced in the answer by the stored one when it is older, and ends when the comic is marked as read', async () => {
    const { db } = given.api.deps;
    const comics = await givenLibrary(db, 'comics');
    const id = await givenItem(db, comics, { type: 'comic', details: { pages: 20 } });
    const params = { id };
    const at = new Date(Date.now() - 60_000).toISOString();
    await given.me.setReadingPosition({ params, body: { value: 'page:5' } });
    expect((await given.me.setReadingPosition({ params, body: { value: 'page:3', at } })).body.page).to.equal(5);
    await given.me.markWatched({ params });
    expect((await given.me.getReadingPosition({ params })).status).to.equal(404);
    expect(await given.progress(id))
      .to.include({ watched: true, progress: 1 })
      .and.not.have.property('reading');
    const late = await given.me.setReadingPosition({ params, body: { value: 'page:3', at } });
    expect([late.status, late.body.value, late.body.progress, late.body.finished]).to.deep.equal([
      ...[200, 'page:1', 1, true],
    ]);
    expect((await given.me.getReadingPosition({ params })).status).to.equal(404);
  });

  it('at the last page marks the comic as read, whatever else the report holds', async () => {
    const { db } = given.api.deps;
    const id = await givenItem(db, await givenLibrary(db, 'comics'), { type: 'comic', details: { pages: 20 } });
    const params = { id };
    const last = await given.me.setReadingPosition({ params, body: { value: 'page:20', finished: false } });
    expect(last.body.finished).to.equal(true);
    expect((await given.progress(id)).watched).to.equal(true);
  });
});
