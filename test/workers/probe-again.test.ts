import { copyFile, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { indexKeyframes } from '#workers/media-keyframes.ts';
import type { Person } from '../support/given.ts';
import { newPlace, type Place } from './scan/support.ts';

const client = { builtIn: 'chromium' };

describe('playing a file that no scan has read as it is', function () {
  this.timeout(60_000);
  let place: Place;
  let viewer: Person;

  before(async function () {
    this.timeout(600_000);
    place = await newPlace('movies');
    viewer = await place.api.given.admin(); // the API is shared with other tests of scans: its owner may be there
  });

  /** A worker's pass over the waiting jobs. */
  async function work(): Promise<void> {
    const { db } = place.api.deps;
    const jobs = await db('jobs').where({ kind: 'media.keyframes', state: 'waiting' }).select('id', 'payload');
    for (const { id, payload } of jobs) {
      await indexKeyframes(payload, place.work());
      await db('jobs').where({ id }).update({ state: 'completed' });
    }
  }

  async function play(itemId: string) {
    const worker = setInterval(() => void work(), 100);
    const input = { params: { id: itemId }, body: { client } };
    const answer = await place.api
      .as(viewer)
      .startPlayback(input)
      .finally(() => clearInterval(worker));
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    return answer.body;
  }

  const rowOf = (itemId: string) =>
    place.api.deps
      .db('media_files')
      .where({ item_id: itemId })
      .first('id', 'size_bytes', 'duration_ms', 'probe', 'container');

  it('reads it on demand: one never read, and one that is another by now', async () => {
    const { db } = place.api.deps;
    await place.put('A (2001)/A (2001).mkv', 'tiny.mkv');
    await place.scan();
    const [item] = await place.items();
    const id = item?.id ?? '';
    const before = await rowOf(id);
    await db('media_files').where({ item_id: id }).update({ probe: null, duration_ms: null });
    await db('media_streams').where({ file_id: before.id }).delete();
    const first = await play(id);
    expect(first.session.durationMs).to.equal(before.duration_ms);
    expect(first.audio.length).to.equal(
      before.probe.streams.filter((one: { kind: string }) => one.kind === 'audio').length,
    );

    const path = join(place.path, 'A (2001)/A (2001).mkv');
    await copyFile(join(place.made, 'h264-aac.mp4'), path);
    const second = await play(id);
    const after = await rowOf(id);
    expect(after.id).to.equal(before.id);
    expect(after.container).to.equal('mp4');
    expect(second.session.decision).to.include({ method: 'direct_play', container: 'mp4' });
    expect(await db('items').where({ id }).first('runtime_ms', 'size_bytes')).to.deep.equal({
      runtime_ms: after.duration_ms,
      size_bytes: after.size_bytes,
    });

    await utimes(path, new Date(), new Date(Date.now() - 7_200_000));
    const scan = await place.scan();
    expect(scan.counts).to.include({ probed: 1 });
    expect((await play(id)).session.mediaFileId).to.equal(before.id);
    expect(await db('jobs').where({ kind: 'media.keyframes', state: 'waiting' }).pluck('id')).to.deep.equal([]);
  });
});
