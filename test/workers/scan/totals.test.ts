import { join } from 'node:path';
import { expect } from 'chai';
import { rollUpItems } from '#areas/libraries/public.ts';
import { writeTrack } from '#support/music-files.ts';
import { newPlace } from './support.ts';

describe('totals of new items', function () {
  this.timeout(60_000);

  it('are inserted with them, as the rollup would compute them, so that no index is written twice', async () => {
    const films = await newPlace('movies');
    const music = await newPlace('music');
    const { db } = films.api.deps;
    await films.put('Heat (1995)/Heat (1995) - 1080p.mkv', 'hevc-hdr10.mkv');
    await films.put('Heat (1995)/Heat (1995) - 720p.mkv', 'h264-multi.mkv');
    await films.put('Long (2000)/Long (2000) cd1.mkv');
    await films.put('Long (2000)/Long (2000) cd2.mkv', 'h264-multi.mkv');
    await films.put('Heat (1995)/trailers/First.mp4', 'h264-aac.mp4');
    for (const n of [1, 2]) {
      const tags = { TIT2: `Song ${n}`, TALB: 'Album', TPE1: 'Artist', TRCK: String(n) };
      await writeTrack(join(music.path, `Artist/Album/0${n} Song ${n}.mp3`), tags);
    }
    await db.raw(`create table counted (id uuid);
      create function count_changes() returns trigger language plpgsql as $$ begin
        insert into counted values (new.id); return null;
      end $$;
      create trigger counted after update on items for each row execute function count_changes();`);
    await films.scan();
    await music.scan();
    expect(await db('counted').pluck('id')).to.deep.equal([]);
    const items = await db('items')
      .whereIn('library_id', [films.libraryId, music.libraryId])
      .select('id', 'size_bytes');
    expect(items.length).to.equal(7);
    const ids = items.map(({ id }) => id as string);
    expect(await db.transaction((tx) => rollUpItems(tx, ids))).to.deep.equal([]);
    const [heat] = await db('items').where({ title: 'Heat', type: 'movie' }).select('file_count', 'height', 'hdr');
    expect(heat).to.deep.include({ file_count: 2 });
    expect([heat.height > 0, heat.hdr]).to.deep.equal([true, 'hdr10']);
  });
});
