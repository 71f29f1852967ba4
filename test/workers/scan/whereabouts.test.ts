import { expect } from 'chai';
import { Looks } from '#areas/storage/public.ts';
import { Whereabouts } from '#workers/scan/engine/whereabouts.ts';
import { newPlace } from './support.ts';

describe('Whereabouts', function () {
  this.timeout(60_000);

  it('reports nothing about a folder that hangs, and sends it no second call', async () => {
    const place = await newPlace('movies');
    const looks = new Looks(500);
    const file = { storage_id: place.api.given.storageId, folder_id: place.folderId, path: 'none.mkv' };
    expect(await new Whereabouts({ work: place.work(), looks }).isGone(file)).to.equal(true);
    const { promise, resolve } = Promise.withResolvers<string>();
    expect(await looks.run(`${file.storage_id} ${file.folder_id}`, () => promise)).to.equal('slow');
    const later = new Whereabouts({ work: place.work(), looks });
    expect([await later.isGone(file), await later.isThere(file)]).to.deep.equal([false, false]);
    resolve('late');
  });
});
