// The item of a running recording, and the scan that brings its file.
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { RecordingRow } from '#areas/live-tv/public.ts';
import { newId } from '#platform/ids.ts';
import { listParts } from '#platform/live/parts.ts';
import { finishLiveRecording } from '#workers/live/finish/finish.ts';
import { partsOfPath } from '#workers/live/finish/names.ts';
import { endItem, giveItem } from '#workers/live/recorder/item.ts';
import { FinalFailure, Postponed } from '#workers/work.ts';
import { newPlace, type Place } from '../scan/support.ts';
import { attemptsOf } from './support.ts';

describe('the item of a running recording', function () {
  this.timeout(60_000);

  async function running(place: Place, more: object): Promise<RecordingRow> {
    const { db } = place.api.deps;
    const id = newId();
    const now = new Date();
    await db('recordings').insert({
      ...{ id, channel_name: 'One', start_pad_ms: 0, end_pad_ms: 0, library_id: place.libraryId, state: 'recording' },
      ...{ start_at: now, end_at: new Date(now.getTime() + 3_600_000), started_at: now, title: 'Up' },
      ...more,
    });
    await giveItem(place.work(), { id });
    await giveItem(place.work(), { id });
    return db('recordings').where({ id }).first() as Promise<RecordingRow>;
  }
  const pathOf = (row: RecordingRow, type: string): string => partsOfPath(row, type, 'UTC').join('/');
  const library = (place: Place) => place.api.deps.db('libraries').where({ id: place.libraryId }).first();

  const cases: [type: string, more: object, types: string[]][] = [
    ['movies', { year: 2009 }, ['movie']],
    ['shows', { season_number: 2, episode_number: 3, episode_title: 'Pilot' }, ['episode', 'season', 'show']],
    ['videos', {}, ['video']],
    ['livetv', { title: 'A: B/C?' }, ['recording']],
  ];
  for (const [type, more, types] of cases)
    it(`is the item of its file in a library of type ${type}`, async () => {
      const place = await newPlace(type);
      await place.put(type === 'shows' ? 'Else/Season 01/Else - S01E01.mkv' : 'Else (2001)/Else (2001).mkv');
      await place.scan();
      const before = await place.items();
      const counts = (await library(place)).item_counts;
      const row = await running(place, more);
      const made = (await place.items()).filter(({ id }) => !before.some((one) => one.id === id));
      expect(made.map((one) => one.type)).to.deep.equal(types);
      expect(made.map(({ id }) => id)).to.include(row.item_id);
      await place.age();
      await place.scan({ mode: 'deep' });
      expect(await place.items()).to.have.lengthOf(before.length + types.length);
      await place.put(pathOf(row, type));
      await place.scan({ mode: 'deep' });
      const files = (await place.files()).filter((one) => one.item_id === row.item_id);
      expect([files.length, (await place.items()).length]).to.deep.equal([1, before.length + types.length]);
      const added = (await place.events('item.added')).filter(({ payload }) => payload['itemId'] === row.item_id);
      expect(added).to.have.lengthOf(1);

      const other = await running(place, { ...more, title: 'Lost', season_number: null, year: 1999 });
      await place.api.deps.db.transaction((tx) => endItem(tx as never, other.id));
      expect(await place.items()).to.have.lengthOf(before.length + types.length);
      const [kind = ''] = types;
      expect((await library(place)).item_counts[kind]).to.equal(counts[kind] + 1);
    });

  it('leaves the descriptions of the show that is there, and comes out of the trash with its file', async () => {
    const place = await newPlace('shows');
    const { db } = place.api.deps;
    await place.put('Up/Season 01/Up - S01E01.mkv');
    await writeFile(
      join(place.path, 'Up/tvshow.nfo'),
      '<tvshow><title>Up</title><plot>Old</plot><mpaa>TV-MA</mpaa></tvshow>',
    );
    await place.scan();
    const described = () =>
      db('items')
        .where({ library_id: place.libraryId })
        .whereIn('type', ['show', 'season'])
        .orderBy('type')
        .select('overview', 'age_years', 'local_artwork', 'title');
    const before = await described();
    expect(before[1]).to.include({ overview: 'Old', age_years: 17 });
    const row = await running(place, { season_number: 1, episode_number: 2 });
    expect(await described()).to.deep.equal(before);
    const [episode] = await db('items').where({ id: row.item_id }).select('parent_id');
    expect(episode.parent_id).to.be.a('string');

    const path = pathOf(row, 'shows');
    await place.put(path);
    await place.scan({ mode: 'deep' });
    await db('items').where({ id: row.item_id }).update({ trashed_at: new Date(), trash_reason: 'deleted' });
    await db('recordings').where({ id: row.id }).update({
      state: 'completed',
      ended_at: new Date(),
      recorded_ms: 1,
      file_path: path,
      file_folder_id: place.folderId,
    });
    const { size } = await stat(join(place.path, path));
    const checkpoint = { file: { path, size, appeared: true } };
    await finishLiveRecording({ recordingId: row.id }, { ...place.work(), checkpoint });
    expect((await db('items').where({ id: row.item_id }).first()).trashed_at).to.equal(null);
    expect(await db('recordings').where({ id: row.id }).first()).to.include({ item_id: row.item_id });
  });

  it('goes to the trash with its file where the recording was deleted between the file and its scan', async () => {
    for (const fileDeletion of [true, false]) {
      const place = await newPlace('movies');
      const { db } = place.api.deps;
      await db('libraries')
        .where({ id: place.libraryId })
        .update({ settings: db.raw(`settings || ?::jsonb`, [JSON.stringify({ fileDeletion })]) });
      const row = await running(place, { year: 2009 });
      const path = pathOf(row, 'movies');
      await place.put(path);
      const { size } = await stat(join(place.path, path));
      await db('recordings')
        .where({ id: row.id })
        .update({
          ...{ state: 'cancelled', ended_at: new Date(), removed_at: new Date(), stop_at: new Date() },
          ...{ file_path: path, file_folder_id: place.folderId },
        });
      await db.transaction((tx) => endItem(tx as never, row.id));
      const checkpoint = { file: { path, size, appeared: true } };
      const run = (): Promise<unknown> =>
        finishLiveRecording({ recordingId: row.id }, { ...place.work(), checkpoint }).catch((error: unknown) => error);
      if (fileDeletion) expect(await run()).to.be.instanceOf(Postponed);
      await place.scan({ mode: 'deep' });
      expect(await run()).to.deep.equal({});
      const [film, ...others] = await db('items').where({ library_id: place.libraryId, trashed_at: null });
      expect([film?.title, others.length], 'the library decides').to.deep.equal([
        fileDeletion ? undefined : row.title,
        0,
      ]);
    }
  });

  it('goes to the trash with its file where the recording is deleted during the last step', async () => {
    const place = await newPlace('movies', { fileDeletion: true });
    const { db } = place.api.deps;
    const row = await running(place, { year: 2009 });
    const path = pathOf(row, 'movies');
    await place.put(path);
    await place.scan({ mode: 'deep' });
    const placed = { file_path: path, file_folder_id: place.folderId };
    await db('recordings')
      .where({ id: row.id })
      .update({ state: 'completed', ended_at: new Date(), recorded_ms: 1, ...placed });
    const { size } = await stat(join(place.path, path));
    const checkpoint = { file: { path, size, appeared: true } };
    const run = (): Promise<unknown> =>
      finishLiveRecording({ recordingId: row.id }, { ...place.work(), checkpoint }).catch((error: unknown) => error);
    const deletion = await db.transaction();
    await deletion('recordings').where({ id: row.id }).update({ state: 'cancelled', stop_at: new Date() });
    const last = run();
    await sleep(500); // it waits for the row
    await deletion.commit();
    expect(await last).to.be.instanceOf(Postponed);
    expect(await run()).to.deep.equal({});
    expect((await db('items').where({ id: row.item_id }).first()).trashed_at).to.be.instanceOf(Date);
  });

  it('is none where no scan takes the file of a deleted recording: the pauses grow, and the file stays', async () => {
    const place = await newPlace('movies', { fileDeletion: true });
    const { db } = place.api.deps;
    const row = await running(place, { year: 2009 });
    const path = pathOf(row, 'movies');
    await place.put(path);
    const { size } = await stat(join(place.path, path));
    const placed = { file_path: path, file_folder_id: place.folderId };
    await db('recordings')
      .where({ id: row.id })
      .update({ state: 'cancelled', ended_at: new Date(), stop_at: new Date(), ...placed });
    const file = { path, size, appeared: true };
    const attempt = attemptsOf(() => place.work(), { file });
    const run = (checkpoint?: object): Promise<unknown> => {
      const work = checkpoint ? { ...place.work(), checkpoint } : attempt();
      return finishLiveRecording({ recordingId: row.id }, work).catch((error: unknown) => error);
    };
    const secondsTo = ({ runAt }: Postponed): number => (runAt.getTime() - Date.now()) / 1000;
    expect(secondsTo((await run()) as Postponed)).to.be.within(0, 2);
    expect(attempt().checkpoint).to.have.property('itemlessSince');
    const minutesAgo = (minutes: number) => ({ file, itemlessSince: Date.now() - minutes * 60_000 });
    expect(secondsTo((await run(minutesAgo(4))) as Postponed)).to.be.within(50, 65);
    expect(await run(minutesAgo(31))).to.deep.equal({});
    expect((await stat(join(place.path, path))).size).to.equal(size);
  });

  it('goes with the parts when its folder could not be written for seven days', async () => {
    const place = await newPlace('livetv');
    const { db, objects } = place.api.deps;
    const { id, item_id: itemId } = await running(place, {});
    await objects.put('foyer-recordings', `${id}/0000000001_1_1_1_1_0_${id}.ts`, Buffer.from('part'));
    const ended = new Date(Date.now() - 8 * 86_400_000);
    await db('recordings').where({ id }).update({ state: 'completed', ended_at: ended, recorded_ms: 1 });
    const storage = db('storages').where({ id: place.api.given.storageId });
    await storage.clone().update({ state: 'unavailable' });
    const tried = (since?: number): Promise<unknown> =>
      finishLiveRecording(
        { recordingId: id },
        Object.assign(place.work(), { checkpoint: since ? { since } : null }),
      ).catch((error: unknown) => error);
    expect(await tried(), 'first tried a week after its end').to.be.instanceOf(Postponed);
    const fault = await tried(ended.getTime());
    await storage.clone().update({ state: 'available' });
    expect(fault).to.be.instanceOf(FinalFailure).and.include({ code: 'TARGET_AWAY' });
    expect(await listParts(place.api.deps, id)).to.deep.equal([]);
    expect(await db('items').where({ id: itemId })).to.deep.equal([]);
  });

  it('is none where the library has the film already', async () => {
    const place = await newPlace('movies');
    await place.put('Up (2009)/Up (2009).mkv');
    await place.scan();
    expect((await running(place, { year: 2009 })).item_id).to.equal(null);
    expect(await place.items()).to.have.lengthOf(1);
  });
});
