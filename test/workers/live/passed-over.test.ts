// A recording never becomes a file under a name that scans pass over: its item would never have a file.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { PARTS_BUCKET, partKey } from '#platform/live/parts.ts';
import { eventually } from '#support/stores.ts';
import { broadcast } from '#support/tuner-box.ts';
import { finishLiveRecording } from '#workers/live/finish/finish.ts';
import { giveItem } from '#workers/live/recorder/item.ts';
import { Postponed } from '#workers/work.ts';
import { newPlace } from '../scan/support.ts';
import { attemptsOf } from './support.ts';

describe('the name of a recording', function () {
  this.timeout(60_000);

  it('is none that was purged or taken out of its item, but the next', async () => {
    const place = await newPlace('movies');
    const { db, objects } = place.api.deps;
    const names = ['Up (2009)', 'Up (2009)-2', 'Up (2009)-3'].map((name) => `Up (2009)/${name}.mkv`);
    const [purged = '', taken = '', free = ''] = names;
    const { path: top } = await db('library_folders').where({ id: place.folderId }).first('path');
    const ids = { library_id: place.libraryId, storage_id: place.api.given.storageId };
    await db('ignored_files').insert({ ...ids, path: `${top}/${purged}` });
    await place.put('Other (2001)/Other (2001).mkv');
    await place.scan();
    const [other] = await place.files();
    await db('media_files')
      .where({ id: other?.id })
      .update({ path: `${top}/${taken}`, ignored: true });

    const [id, now] = [newId(), Date.now()];
    await db('recordings').insert({
      ...{ id, channel_name: 'One', start_pad_ms: 0, end_pad_ms: 0, library_id: place.libraryId, state: 'recording' },
      ...{ start_at: new Date(now - 60_000), end_at: new Date(now), started_at: new Date(now - 60_000) },
      ...{ title: 'Up', year: 2009 },
    });
    await giveItem(place.work(), { id });
    const bytes = broadcast('h264');
    const [startMs, durationMs] = [now - 8000, 8000];
    const part = {
      ...{ sequence: 1, startMs, durationMs, bytes: bytes.length },
      epoch: 1,
      discontinuity: 0,
      streamId: newId(),
    };
    await objects.put(PARTS_BUCKET, partKey(id, part), bytes);
    await db('recordings')
      .where({ id })
      .update({ state: 'completed', ended_at: new Date(now), recorded_ms: durationMs });

    // An earlier worker stopped before the file appeared, and another file has its name since.
    const path = 'Up (2009)/Up.mkv';
    await place.put(path);
    await db('recordings').where({ id }).update({ file_folder_id: place.folderId, file_path: path });
    const attempt = attemptsOf(() => place.work(), { file: { path, size: 1, appeared: false } });
    await eventually(async () => {
      try {
        await finishLiveRecording({ recordingId: id }, attempt());
        return true;
      } catch (error) {
        if (!(error instanceof Postponed)) throw error;
        await place.scan({ mode: 'deep' });
        return false;
      }
    }, 30_000);
    expect(names.map((name) => existsSync(join(place.path, name)))).to.deep.equal([false, false, true]);
    const row = await db('recordings').where({ id }).first('file_path', 'item_id');
    const file = await db('media_files')
      .where({ path: `${top}/${free}` })
      .first('item_id');
    expect([row.file_path, file.item_id]).to.deep.equal([free, row.item_id]);
  });
});
