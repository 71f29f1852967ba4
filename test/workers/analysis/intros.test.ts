import { mkdir, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { findIntros } from '#workers/analysis/intros/intros.ts';
import { SOUND_VERSION } from '#workers/analysis/intros/sound.ts';
import { type MadeEpisode, writeEpisode } from './season.ts';
import { type AnalysedPlace, newAnalysedPlace } from './support.ts';

const OLD = new Date(Date.now() - 3_600_000);

/** Cold opens, two lengths of the opening, other loudness, and the fifth episode without. */
const WITH: MadeEpisode[] = [
  { cold: 0, opening: 20, seed: 100 },
  { cold: 12.3, opening: 20, seed: 200, volume: 0.7 },
  { cold: 25.7, opening: 20, seed: 300 },
  { cold: 7.1, opening: 28, seed: 400, volume: 0.9 },
  { cold: 5, opening: 0, seed: 500 },
  { cold: 19.9, opening: 28, seed: 600 },
  { cold: 2.4, opening: 28, seed: 700, volume: 0.8 },
  { cold: 30, opening: 20, seed: 800 },
];
const WITHOUT: MadeEpisode[] = [1, 2, 3, 4].map((n) => ({ cold: 5 * n, opening: 0, seed: 9000 + 100 * n }));

async function put(place: AnalysedPlace, season: number, episodes: readonly MadeEpisode[]): Promise<void> {
  for (const [i, episode] of episodes.entries()) {
    const target = join(place.path, `Made/Season 0${season}/Made S0${season}E0${i + 1}.mkv`);
    await mkdir(dirname(target), { recursive: true });
    await writeEpisode(target, episode);
    await utimes(target, OLD, OLD);
  }
}

describe('analysis.intros', function () {
  this.timeout(300_000);
  let place: AnalysedPlace;
  before(async () => {
    place = await newAnalysedPlace('shows', {
      creditsDetection: false,
      previewThumbnails: false,
      voiceActivity: false,
    });
    await put(place, 1, WITH);
    await put(place, 2, WITHOUT);
    await place.scan();
    await place.analyse();
  });

  const found = async (season: number) => {
    const rows = await place.api.deps
      .db('media_files as f')
      .join('items as i', 'i.id', 'f.item_id')
      .leftJoin('markers as m', 'm.file_id', 'f.id')
      .where({ 'i.library_id': place.libraryId, 'i.parent_index': season })
      .orderBy('i.index_number')
      .select<{ start_ms: number | null; end_ms: number | null; source: string | null }[]>('m.*');
    return rows;
  };

  it('finds the opening of each episode within a second, and none in the one without', async () => {
    const rows = await found(1);
    expect(rows).to.have.length(WITH.length);
    const faults = WITH.flatMap(({ cold, opening }, i) => {
      const { start_ms: start, end_ms: end } = rows[i] ?? {};
      if (opening === 0) return start === null ? [] : [`${i + 1}: ${start}-${end} is none`];
      if (start === null || start === undefined) return [`${i + 1}: none`];
      const apart = [start / 1000 - cold, (end ?? 0) / 1000 - cold - opening];
      return apart.every((seconds) => Math.abs(seconds) <= 1) ? [] : [`${i + 1}: ${apart.join(' and ')} s apart`];
    });
    expect(faults).to.deep.equal([]);
    expect(new Set(rows.map(({ source }) => source))).to.deep.equal(new Set(['analysis', null]));
    expect(await place.states('introDetection')).to.deep.equal([
      ...WITH.map(({ opening }) => (opening > 0 ? 'done' : 'not-found')),
      ...WITHOUT.map(() => 'not-found'),
    ]);
  });

  it('finds none in a season without', async () => {
    expect((await found(2)).map(({ start_ms: start }) => start)).to.deep.equal([null, null, null, null]);
  });

  it('hears each file once, also when its worker is killed, and passes over what a person locked', async () => {
    const { db } = place.api.deps;
    const heard = async () => db('intro_sounds').orderBy('file_id').select('file_id', db.raw('xmin'));
    const before = await heard();
    const fileId = await place.fileId('Episode 1');
    await db('intro_sounds').where({ file_id: fileId }).delete();
    await db('media_files').where({ id: fileId }).update({ markers_locked: true });
    const marked = await db('markers').where({ file_id: fileId }).select('id');
    const jobId = place.work().jobId;
    await db('analyses').where({ name: 'introDetection' }).update({ state: 'queued', job_id: jobId, tries: 1 });
    await findIntros({ libraryId: place.libraryId }, { ...place.work(), jobId });
    const after = await heard();
    expect(after.map(({ file_id: id }) => id)).to.have.members(before.map(({ file_id: id }) => id));
    const again = after.filter((row) => !before.some((old) => old.file_id === row.file_id && old.xmin === row.xmin));
    expect(again.map(({ file_id: id }) => id)).to.deep.equal([fileId]);
    expect(await db('markers').where({ file_id: fileId }).select('id')).to.deep.equal(marked);
  });

  it('leaves the sound that a newer version stored', async () => {
    const { db } = place.api.deps;
    const fileId = await place.fileId('Episode 1');
    const newer = { file_id: fileId, version: SOUND_VERSION + 1 };
    await db('intro_sounds').where({ file_id: fileId }).update({ version: newer.version });
    const { jobId } = place.work();
    await db('analyses').where({ name: 'introDetection' }).update({ state: 'queued', job_id: jobId, tries: 1 });
    await findIntros({ libraryId: place.libraryId }, { ...place.work(), jobId });
    expect(await db('intro_sounds').where({ file_id: fileId }).select('file_id', 'version')).to.deep.equal([newer]);
  });
});
