import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { tool } from '#support/hls-validator.ts';
import { drawnSup, dvdFilm, realSup, repeatedSup } from '#support/picture-films.ts';
import { temporaryFolder } from '#support/stores.ts';
import { extractSubtitles } from '#workers/subtitles/extract-job.ts';
import { fixtures } from '../../../hack/fixtures/index.ts';
import { newPlace, type Place } from './support.ts';

const SECONDS = 90;

describe('picture subtitles that no flag of the container marks', function () {
  this.timeout(180_000);
  const folder = temporaryFolder('forced');
  const at = (name: string): string => join(folder, name);
  let place: Place;

  before(async function () {
    this.timeout(600_000);
    place = await newPlace('movies');
    const sup = realSup((await fixtures()).real);
    const [forced, plain] = [drawnSup(sup, { forced: true }), drawnSup(sup)];
    writeFileSync(at('forced.sup'), repeatedSup(forced, [5000, 60_000]));
    writeFileSync(at('some.sup'), Buffer.concat([repeatedSup(forced, [5000]), repeatedSup(plain, [70_000])]));
    const picture = ['-f', 'lavfi', '-i', `color=s=64x36:r=5:d=${SECONDS}`];
    await tool('ffmpeg', ['-v', 'error', ...picture, '-c:v', 'libx264', '-g', '10', at('film.mkv')]);
  });

  /** A film in the library, and whether each of its picture tracks is forced after the jobs of the scan. */
  async function scanned(name: string, file: string): Promise<boolean[]> {
    const { db } = place.api.deps;
    const title = name.split('.')[0] ?? '';
    mkdirSync(join(place.path, title));
    copyFileSync(file, join(place.path, title, name));
    await place.age();
    await place.scan();
    const fileId = (await place.files()).find(({ path }) => path.endsWith(name))?.id ?? '';
    const jobs = await db('jobs').where({ kind: 'subtitles.extract' }).whereRaw(`payload->>'fileId' = ?`, [fileId]);
    expect(jobs.map(({ payload }) => payload)).to.deep.equal([{ fileId, forced: true }]);
    const tracks = () => db('media_streams').where({ file_id: fileId, kind: 'subtitle' }).orderBy('stream_index');
    expect((await tracks().select('forced')).some(({ forced }) => forced)).to.equal(false);
    await extractSubtitles({ fileId, forced: true }, place.work());
    return (await tracks().select('forced')).map(({ forced }) => forced);
  }

  it('are forced ones where all that a Blu-ray track shows is forced', async () => {
    const tracks = ['--forced-display-flag', '0:no', at('forced.sup'), '--forced-display-flag', '0:no', at('some.sup')];
    await tool('mkvmerge', ['-q', '-o', at('indexed.mkv'), at('film.mkv'), ...tracks]);
    expect(await scanned('Indexed (2001).mkv', at('indexed.mkv'))).to.deep.equal([true, false]);
    const unindexed = ['--cues', '0:none', at('forced.sup'), '--cues', '0:none', at('some.sup')];
    await tool('mkvmerge', ['-q', '-o', at('unindexed.mkv'), at('film.mkv'), ...unindexed]);
    expect(await scanned('Walked (2002).mkv', at('unindexed.mkv'))).to.deep.equal([true, false]);
    const events = await place.events('item.updated');
    expect(events.filter(({ payload }) => String(payload['changed']) === 'subtitles')).to.have.length(2);
  });

  it('are forced ones in a transport stream too', async () => {
    const inputs = ['film.mkv', 'forced.sup', 'some.sup'].flatMap((name) => ['-i', at(name)]);
    const maps = ['-map', '0', '-map', '1', '-map', '2', '-c', 'copy', '-mpegts_m2ts_mode', '1', '-f', 'mpegts'];
    await tool('ffmpeg', ['-v', 'error', ...inputs, ...maps, at('film.m2ts')]);
    expect(await scanned('Disc (2003).m2ts', at('film.m2ts'))).to.deep.equal([true, false]);
  });

  it('are forced ones where all pictures of a DVD track are', async () => {
    for (const [allForced, name] of [
      [true, 'Signs (2004).mkv'],
      [false, 'Words (2005).mkv'],
    ] as const) {
      const dvd = await dvdFilm(temporaryFolder('dvd'), SECONDS, { allForced });
      const copied = ['-map', '0:v', '-map', '0:s', '-c', 'copy', '-y', at('dvd.mkv')];
      await tool('ffmpeg', ['-v', 'error', '-fflags', '+genpts', '-i', dvd, ...copied]);
      expect(await scanned(name, at('dvd.mkv')), name).to.deep.equal([allForced]);
    }
  });

  it('are no forced ones of a film that was replaced while its pictures were read', async () => {
    const { db } = place.api.deps;
    await tool('mkvmerge', ['-q', '-o', at('replaced.mkv'), at('film.mkv'), at('forced.sup')]);
    expect(await scanned('Replaced (2006).mkv', at('replaced.mkv'))).to.deep.equal([true]);
    const fileId = (await place.files()).find(({ path }) => path.endsWith('Replaced (2006).mkv'))?.id ?? '';
    await db('media_streams').where({ file_id: fileId }).update({ forced: false });
    const work = place.work();
    const transaction: typeof db.transaction = async (...args: unknown[]) => {
      await db('media_files').where({ id: fileId }).increment('modified_ms', 1000);
      return Reflect.apply(db.transaction, db, args);
    };
    const replacing = new Proxy(db, {
      get: (target, key) => (key === 'transaction' ? transaction : Reflect.get(target, key)),
    });
    expect(await extractSubtitles({ fileId, forced: true }, { ...work, db: replacing })).to.deep.equal({ marked: 0 });
    expect(await db('media_streams').where({ file_id: fileId, forced: true })).to.have.length(0);
  });
});
