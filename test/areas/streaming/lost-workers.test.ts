import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { openTranscodeSession } from '#areas/streaming/public.ts';
import { claimOpenSession, countSlots, wakeSession } from '#areas/streaming/sessions/sessions.store.ts';
import { wantSegment } from '#areas/streaming/sessions/wants.store.ts';
import { newId } from '#platform/ids.ts';
import { type Api, startApi } from '#support/api.ts';
import { look, optionsFor } from '#support/hls-render.ts';
import { film } from '#support/hls-session.ts';
import { fixtures } from '../../../hack/fixtures/index.ts';

const GONE = { id: 'gone', node: 'another', encoder: 'libx264', pid: 1 };
const NEXT = { ...GONE, id: 'next' };

describe('sessions whose worker is lost while its encoder rests', function () {
  this.timeout(60_000);
  let api: Api;
  let id: string;

  before(async function () {
    this.timeout(600_000);
    const { made } = await fixtures();
    api = await startApi();
    const path = join(api.mediaRoot, 'h264-aac.mp4');
    copyFileSync(join(made, 'h264-aac.mp4'), path);
    const { fileId, itemId } = await film(api.deps.db, path, api.given.storageId);
    const owner = await api.given.owner();
    const options = { ...optionsFor(await look(path), { mode: 'encode' }), ...owner, fileId, itemId };
    id = (await openTranscodeSession(api.deps.db, { ...options, playbackSessionId: newId(), subtitles: [] })).id;
  });

  /** As a worker leaves it that made all it may; its lease ends so many seconds from now. */
  const rests = async (leaseSec: number): Promise<unknown> =>
    api.deps
      .db('transcode_sessions')
      .where({ id })
      .update({
        state: 'idle',
        lease_holder: GONE.id,
        worker: JSON.stringify(GONE),
        lease_until: api.deps.db.raw(`now() + ? * interval '1 second'`, [leaseSec]),
        wanted_segment: 7,
      });
  const want = (segment: number) => wantSegment(api.deps.db, { id, rendition: 'v0', segment });

  it('are left to it while its lease lasts', async () => {
    await rests(60);
    expect(await want(9)).to.deep.equal({ offer: false, state: 'idle' });
    expect(await wakeSession(api.deps.db, id)).to.equal(false);
    expect(await claimOpenSession(api.deps.db, NEXT)).to.equal(undefined);
  });

  it('go to another with the next requirement, and count as waiting until then', async () => {
    await rests(-1);
    expect(await countSlots(api.deps.db)).to.deep.equal({ used: 0, waiting: 0 });
    expect(await want(9)).to.deep.equal({ offer: true, state: 'starting' });
    expect(await countSlots(api.deps.db)).to.deep.equal({ used: 0, waiting: 1 });
    expect(await claimOpenSession(api.deps.db, NEXT)).to.include({ id, lease_holder: 'next', wanted_segment: 9 });
  });

  it('go to another when they are woken', async () => {
    await rests(-1);
    expect(await wakeSession(api.deps.db, id)).to.equal(true);
    expect((await claimOpenSession(api.deps.db, NEXT))?.id).to.equal(id);
  });

  it('begin where the viewer is, though a header was required last', async () => {
    await rests(-1);
    await want(-1);
    expect(await claimOpenSession(api.deps.db, NEXT)).to.include({ wanted_segment: 7, wanted_rendition: 'v0' });
  });
});
