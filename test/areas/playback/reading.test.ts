import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { givenFile, givenItem, givenLibrary } from '#support/given-items.ts';
import { GivenPlayback } from '#support/given-playback.ts';

describe('The place in a comic', () => {
  const given = new GivenPlayback();

  it('is kept with its file and told with the progress', async () => {
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
});
