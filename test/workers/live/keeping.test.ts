// Finished recordings leave through the real worker, with real files.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { announceSettings, saveSettings } from '#platform/settings.ts';
import type { Person } from '#support/given.ts';
import { atEnd, eventually } from '#support/stores.ts';
import { handlers } from '#workers/handlers.ts';
import { keepRecordingsTrimmed } from '#workers/live/keeping/keeper.ts';
import { Recorder } from '#workers/live/recorder/keeper.ts';
import { startRuntime } from '#workers/runtime.ts';
import { newPlace, type Place } from '../scan/support.ts';

const DAY_MS = 86_400_000;
const PIB = 2 ** 50;

describe('the clean-up of recordings', function () {
  this.timeout(180_000);
  let place: Place;
  let kept: Place;
  let rule: string;
  let person: Person;
  before(async () => {
    place = await newPlace('movies', { fileDeletion: true });
    kept = await newPlace('movies', {}, place.api);
    person = await place.api.given.owner();
    rule = newId();
    await db()('recording_rules').insert({
      ...{ id: rule, name: 'Films', match: 'kind:eq:movie', start_pad_ms: 0, end_pad_ms: 0, keep_last: 1 },
      library_id: place.libraryId,
    });
  });

  const db = () => place.api.deps.db;
  const row = (id: string) => db()('recordings').where({ id }).first();
  const item = async (id: string) =>
    db()('items')
      .where({ id: (await row(id)).item_id })
      .first();

  /** A finished recording of so many days ago, with the file at that path. */
  async function finished(
    path: string,
    days: number,
    row: Record<string, unknown> & { at?: Place } = {},
  ): Promise<string> {
    const { at = place, ...more } = row;
    await at.put(path);
    await at.scan();
    const file = (await at.files()).find((one) => one.path.endsWith(`/${path}`));
    const [id, time] = [newId(), Date.now() - days * DAY_MS];
    await db()('recordings').insert({
      ...{ id, channel_name: 'One', title: path, start_pad_ms: 0, end_pad_ms: 0, library_id: at.libraryId },
      ...{ start_at: new Date(time - 3_600_000), end_at: new Date(time), ended_at: new Date(time) },
      ...{ finished_at: new Date(time), cleared_at: new Date(time), state: 'completed', item_id: file?.item_id },
      ...{ file_folder_id: at.folderId, file_path: path, size_bytes: 1000 },
      ...more,
    });
    return id;
  }

  const trash = (): string[] => {
    const folder = join(place.api.mediaRoot, '.foyer-trash');
    return existsSync(folder)
      ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.mkv'))
      : [];
  };
  const isInTrash = (name: string): boolean => trash().some((path) => path.endsWith(`/${name}`));

  it('moves recordings beyond keepDays or keepLast to the trash, and deletes them there when space is needed', async () => {
    const old = await finished('Old (2001)/Old (2001).mkv', 4, { keep_days: 3 });
    const first = await finished('First (2002)/First (2002).mkv', 2, { rule_id: rule });
    const latest = await finished('Latest (2003)/Latest (2003).mkv', 1, { rule_id: rule });
    const fresh = await finished('Fresh (2004)/Fresh (2004).mkv', 2, { keep_days: 3 });
    const eternal = await finished('Ever (2005)/Ever (2005).mkv', 900);
    const open = await finished('Open (2006)/Open (2006).mkv', 9, { keep_days: 1 });
    const stays = await finished('Kept (2007)/Kept (2007).mkv', 9, { keep_days: 1, at: kept });
    // The film was in the library before: its own file is no recording.
    await place.put('Up (2009)/Up (2009).mkv');
    const copy = await finished('Up (2009)/Up (2009) - Recorded.mkv', 9, { keep_days: 1 });
    const [film] = await db()('media_files').whereLike('path', '%/Up (2009).mkv').select('item_id');
    expect(film.item_id).to.equal((await row(copy)).item_id);
    // The recording was taken out of the item, so the only file that is left is the household's.
    await place.put('Own (2010)/Own (2010).mkv');
    const taken = await finished('Own (2010)/Own (2010) - Recorded.mkv', 9, { keep_days: 1 });
    await db()('media_files').whereLike('path', '%/Own (2010) - Recorded.mkv').update({ ignored: true });
    const session = { id: newId(), item_id: (await row(open)).item_id, library_id: place.libraryId, url: '' };
    await db()('playback_sessions').insert({
      ...{ ...session, file_id: newId(), account_id: person.accountId, profile_id: person.profileId },
      ...{ method: 'direct_play', decision: '{}' },
    });

    const runtime = await startRuntime(place.api.deps, handlers, () => undefined);
    atEnd(() => runtime.stop());
    const stop = new AbortController();
    atEnd(() => stop.abort());
    void keepRecordingsTrimmed(place.api.deps, stop.signal);
    await eventually(async () => trash().length === 3 || undefined, 60_000);
    const [gone, staying] = [
      [old, first, copy],
      [latest, fresh, eternal, open, stays, taken],
    ];
    for (const id of gone) expect(await row(id)).to.include({ rule_id: null, keep_days: null, state: 'completed' });
    const removed = await db()('recordings').whereNotNull('removed_at').select('id');
    expect(removed.map(({ id }) => id)).to.have.members(gone);
    for (const id of staying) expect((await item(id)).trashed_at).to.equal(null);
    for (const id of [old, first]) expect((await item(id)).trashed_at).to.be.instanceOf(Date);
    expect((await item(copy)).trashed_at).to.equal(null);
    expect(trash().map((path) => path.split('/').at(-1))).to.have.members([
      'Old (2001).mkv',
      'First (2002).mkv',
      'Up (2009) - Recorded.mkv',
    ]);
    expect(existsSync(join(place.path, 'Up (2009)/Up (2009).mkv'))).to.equal(true);
    const events = await place.events('item.deleted');
    expect(events.map(({ payload }) => payload['itemId'])).to.have.members([
      (await row(old)).item_id,
      (await row(first)).item_id,
    ]);

    // A person deletes a film, which only a person takes out of the trash.
    const owner = place.api.as(person);
    const id = (await row(eternal)).item_id;
    expect((await owner.deleteItem({ params: { id }, query: { files: 'trash' } } as never)).status).to.equal(204);
    await eventually(async () => isInTrash('Ever (2005).mkv') || undefined, 60_000);
    const recorder = new Recorder(place.work());
    const start = new Date(Date.now() - 5000);
    const next = newId();
    const times = { start_at: start, planned_from: start };
    const end = new Date(Date.now() + 600_000);
    await db()('recordings').insert({
      ...{ id: next, channel_name: 'One', title: 'Next', start_pad_ms: 0, end_pad_ms: 0, ...times },
      ...{ end_at: end, planned_to: end, library_id: place.libraryId, folder_id: place.folderId },
    });
    const needs = async (bytes: number) => {
      await saveSettings(db() as never, { 'dvr.keepFreeBytes': bytes }, null);
      await announceSettings(place.api.deps.redis);
      await eventually(async () => place.api.deps.settings.get('dvr.keepFreeBytes') === bytes || undefined);
    };
    await needs(PIB);
    await eventually(async () => {
      await recorder.look();
      return (!isInTrash('Old (2001).mkv') && !isInTrash('First (2002).mkv')) || undefined;
    }, 60_000);
    expect(isInTrash('Ever (2005).mkv')).to.equal(true);
    expect(await row(next)).to.include({ state: 'scheduled' });
    for (const one of staying.filter((other) => other !== eternal)) expect((await row(one)).removed_at).to.equal(null);
    await needs(0);
    await eventually(async () => {
      await recorder.look();
      return (await row(next)).state !== 'scheduled' || undefined;
    }, 60_000);
  });
});
