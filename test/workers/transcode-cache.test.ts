import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { StreamPlan } from '#areas/streaming/public.ts';
import { insertSession } from '#areas/streaming/sessions/sessions.store.ts';
import { newId } from '#platform/ids.ts';
import { type Api, startApi } from '#support/api.ts';
import { trimTranscodeCache } from '#workers/transcode-cache.ts';

const BUCKET = 'foyer-transcode';
const HOUR = { durationMs: 3_600_000, container: 'fmp4', mode: 'encode', video: [], audio: [], subtitles: [] };

describe('transcode cache', () => {
  let api: Api;
  before(async () => {
    api = await startApi();
    await api.deps.objects.prepare([BUCKET]);
  });
  beforeEach(async () => {
    await api.deps.db('transcode_sessions').delete();
    await api.deps.objects.removePrefix(BUCKET, '');
  });

  const session = async (wanted: number, more: object = {}): Promise<string> => {
    const id = newId();
    const ids = { playback_session_id: newId(), account_id: newId(), profile_id: newId(), item_id: newId() };
    const plan = HOUR as unknown as StreamPlan;
    await insertSession(api.deps.db, { id, ...ids, file_id: newId(), plan, wanted_segment: wanted });
    await api.deps
      .db('transcode_sessions')
      .where({ id })
      .update({ ...more, item_id: ids.item_id });
    return id;
  };
  /** 100 bytes, made so many minutes ago. */
  const segment = async (key: string, minutesAgo = 0): Promise<void> => {
    await api.deps.objects.put(BUCKET, key, Buffer.alloc(100));
    const at = new Date(Date.now() - minutesAgo * 60_000);
    utimesSync(join(new URL(api.config.objectsUrl).pathname, BUCKET, key), at, at);
  };
  const keys = async (): Promise<string[]> => {
    const found: string[] = [];
    for await (const { key } of api.deps.objects.list(BUCKET, '')) found.push(key);
    return found.sort();
  };
  const trim = async (limit: number): Promise<string[]> => {
    const settings = { ...api.deps.settings, get: () => limit } as unknown as typeof api.deps.settings;
    const before = await keys();
    const count = await trimTranscodeCache({ ...api.deps, settings });
    const after = await keys();
    expect(count).to.equal(before.length - after.length);
    return before.filter((key) => !after.includes(key));
  };

  it('deletes the oldest segments ten minutes behind their viewer, and no more than the limit requires', async () => {
    const far = await session(1000);
    const near = await session(310);
    for (const [n, minutes] of [
      [1, 20],
      [2, 30],
      [698, 25],
      [699, 40],
      [700, 50],
      [1001, 60],
    ] as const) {
      await segment(`${far}/v0/${n}.m4s`, minutes);
    }
    await segment(`${far}/a0/2.m4s`, 10);
    await segment(`${far}/v0/init.mp4`, 90);
    await segment(`${near}/v0/8.ts`, 15);
    await segment(`${near}/v0/11.ts`, 70);

    expect(await trim(1000)).to.deep.equal([]); // 1,000 bytes are there
    expect(await trim(850)).to.deep.equal([`${far}/v0/2.m4s`, `${far}/v0/698.m4s`].sort());
    // Segment 699 ends 600 s before segment 1000 begins: it stays, as the init segment does, under any limit.
    expect(await trim(0)).to.deep.equal([`${far}/a0/2.m4s`, `${far}/v0/1.m4s`, `${near}/v0/8.ts`].sort());
    expect(await keys()).to.have.length(5);
  });

  it('deletes segments of ended sessions after a minute, and those of no session after a day', async () => {
    const ended = await session(0, { state: 'stopped', stopped_at: new Date(Date.now() - 61_000) });
    const justEnded = await session(0, { state: 'stopped', stopped_at: new Date() });
    const unfetched = await session(0, { created_at: new Date(Date.now() - 91_000) });
    const paused = await session(0, { created_at: new Date(Date.now() - 91_000), paused: true });
    const stranger = newId();
    for (const id of [ended, justEnded, unfetched, paused, stranger]) await segment(`${id}/v0/0.m4s`, 1439);
    await segment(`${stranger}/v0/1.m4s`, 1441);
    await segment(`${paused}/v0/1.m4s`, 1441);
    await trimTranscodeCache(api.deps);
    expect(await keys()).to.deep.equal(
      [
        `${justEnded}/v0/0.m4s`,
        `${unfetched}/v0/0.m4s`,
        `${paused}/v0/0.m4s`,
        `${paused}/v0/1.m4s`,
        `${stranger}/v0/0.m4s`,
      ].sort(),
    );
    const rows = await api.deps.db('transcode_sessions').select('id', 'state', 'purged_at');
    const of = (id: string) => rows.find((row: { id: string }) => row.id === id);
    expect(of(ended)?.purged_at).to.be.instanceOf(Date);
    expect(of(unfetched)?.state).to.equal('stopped');
    expect(of(paused)?.state).to.equal('starting');
  });
});
