import { mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { LibraryTops } from '#workers/scan/engine/library-tops.ts';
import { newPlace, type Place } from './support.ts';

const titles = async (place: Place): Promise<string[]> => (await place.items()).map(({ title }) => title);

describe('a link inside a library', function () {
  this.timeout(60_000);

  it('leads to files in its own library, in another folder of it too, and nowhere else', async () => {
    const [place, other] = [await newPlace('movies'), await newPlace('movies')];
    await place.put('A (2001)/A (2001).mkv');
    await other.put('Secret (2002)/Secret (2002).mkv', 'tiny.mp4');
    const second = `${place.path}-second`;
    await mkdir(second);
    await place.put(`../${second.split('/').at(-1)}/B (2003).mkv`, 'h264-base.mkv');
    await place.api.deps.db('library_folders').insert({
      ...{ id: newId(), library_id: place.libraryId, storage_id: place.api.given.storageId },
      path: second.split('/').at(-1),
    });
    await symlink(join(place.path, 'A (2001)/A (2001).mkv'), join(place.path, 'Own (2004).mkv'));
    await symlink(join(second, 'B (2003).mkv'), join(place.path, 'Below (2005).mkv'));
    await symlink(join(other.path, 'Secret (2002)/Secret (2002).mkv'), join(place.path, 'Out (2006).mkv'));
    const scan = await place.scan();
    expect(await titles(place)).to.deep.equal(['A', 'B', 'Below', 'Own']);
    expect(scan.issues.map(({ kind, path }) => [kind, path.split('/').at(-1)])).to.deep.equal([
      ['link-outside', 'Out (2006).mkv'],
    ]);
    const member = place.api.as(await place.api.given.member());
    for (const { id } of await place.files())
      expect((await member.streamFile({ params: { fileId: id } })).status).to.equal(200);
  });

  it('is looked at each time something is read through it, and not only by the scan', async () => {
    const [place, other] = [await newPlace('movies'), await newPlace('movies')];
    const { api } = place;
    await place.put('A (2001)/A (2001).mkv');
    await place.put('A (2001)/A (2001).en.srt', 'en.srt');
    await other.put('Secret (2002)/A (2001).mkv', 'tiny.mp4');
    await other.put('Secret (2002)/A (2001).en.srt', 'en.srt');
    await place.scan();
    const [file] = await place.files();
    const member = api.as(await api.given.member());
    const status = async (): Promise<number[]> => {
      const [params, id] = [{ fileId: file?.id ?? '' }, file?.item_id ?? ''];
      const stream = await member.streamFile({ params });
      const text = await member.getSubtitleFile({ params: { id, file: 'A (2001).en.srt' } });
      return [stream.status, (await member.downloadFile({ params })).status, text.status];
    };
    expect(await status()).to.deep.equal([200, 200, 200]);
    const folder = join(place.path, 'A (2001)');
    await rename(folder, `${folder}.away`);
    await symlink(join(other.path, 'Secret (2002)'), folder);
    expect(await status(), 'the folder leads out').to.deep.equal([415, 415, 404]);
    await rm(folder);
    await mkdir(folder);
    for (const name of ['A (2001).mkv', 'A (2001).en.srt'])
      await symlink(join(other.path, 'Secret (2002)', name), join(folder, name));
    expect(await status(), 'the files lead out').to.deep.equal([415, 415, 404]);
  });

  it('is not followed by a later read of a listed file', async () => {
    const [place, other] = [await newPlace('movies'), await newPlace('movies')];
    await other.put('Secret (2002).mkv');
    await symlink(join(other.path, 'Secret (2002).mkv'), join(place.path, 'Out (2006).mkv'));
    const root = place.api.mediaRoot;
    const folder = {
      id: place.folderId,
      storageId: place.api.given.storageId,
      path: place.path.split('/').at(-1) ?? '',
      root,
    };
    expect(await new LibraryTops([folder]).resolve(join(place.path, 'Out (2006).mkv'))).to.equal(undefined);
    expect(await new LibraryTops([folder]).resolve(place.path)).to.equal(place.path);
  });

  it('is no way to the words of an NFO file outside', async () => {
    const place = await newPlace('shows');
    const outside = join(place.api.mediaRoot, 'outside.nfo');
    await writeFile(outside, '<tvshow><title>Outside</title><plot>Secret</plot></tvshow>');
    await utimes(outside, new Date(0), new Date(0));
    await place.put('Lost/Season 1/Lost S01E01.mkv');
    await symlink(outside, join(place.path, 'Lost/tvshow.nfo'));
    const scan = await place.scan();
    expect(await titles(place))
      .to.include('Lost')
      .and.not.include('Outside');
    expect(scan.issues.map(({ kind }) => kind)).to.include('link-outside');
  });
});
