import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { openTranscodeSession } from '#areas/streaming/public.ts';
import { waitUntil } from '#areas/streaming/segments/waiting.ts';
import { countSlots, findSession } from '#areas/streaming/sessions/sessions.store.ts';
import { withdrawWant } from '#areas/streaming/sessions/wants.store.ts';
import type { Call } from '#kernel/endpoint.ts';
import type { ApiError } from '#kernel/errors.ts';
import { newId } from '#platform/ids.ts';
import { connectRedis } from '#platform/redis.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { look, optionsFor } from '#support/hls-render.ts';
import { film } from '#support/hls-session.ts';
import { atEnd, eventually } from '#support/stores.ts';
import { fixtures } from '../../../hack/fixtures/index.ts';

describe('requests that wait for a segment', function () {
  this.timeout(60_000);
  let api: Api;
  let session: string;
  let owner: Person;

  before(async function () {
    this.timeout(600_000);
    const { made } = await fixtures();
    api = await startApi();
    const path = join(api.mediaRoot, 'h264-aac.mp4');
    copyFileSync(join(made, 'h264-aac.mp4'), path);
    const { fileId, itemId } = await film(api.deps.db, path, api.given.storageId);
    owner = await api.given.owner();
    const options = { ...optionsFor(await look(path), { mode: 'encode' }), ...owner, fileId, itemId };
    const ids = { playbackSessionId: newId(), subtitles: [] };
    session = (await openTranscodeSession(api.deps.db, { ...options, ...ids })).id;
  });

  it('fail at once when the storage becomes unavailable', async () => {
    const { db } = api.deps;
    const looked = async () => (await db('transcode_sessions').where({ id: session }).first('wanted_at')).wanted_at;
    const opened = await looked();
    const waiting = api.fetch(`/api/v1/stream/${session}/v0/segments/3.m4s`, { headers: owner.headers });
    await eventually(async () => (await looked()) > opened);
    const storage = db('storages').where({ id: api.given.storageId });
    await storage.clone().update({ enabled: false });
    expect((await waiting).status).to.equal(423);
    await storage.clone().update({ enabled: true });
  });

  it('withdraw their requirements when all readers disconnect', async () => {
    const row = () => findSession(api.deps.db, session);
    const places = () => api.deps.redis.zcard(`foyer:transcode:waiting:${session}`);
    const [first, second] = [new AbortController(), new AbortController()];
    const requests = [first, second].map(({ signal }) =>
      api.fetch(`/api/v1/stream/${session}/v0/segments/2.m4s`, { headers: owner.headers, signal }).catch(() => 'gone'),
    );
    await eventually(async () => (await places()) === 2);
    expect(await row()).to.include({ state: 'starting', wanted_rendition: 'v0', wanted_segment: 2 });
    first.abort();
    await eventually(async () => (await places()) === 1);
    expect(await row()).to.include({ state: 'starting', wanted_rendition: 'v0' });
    second.abort();
    await eventually(async () => (await row())?.state === 'idle');
    expect(await row()).to.include({ wanted_rendition: null });
    expect(await Promise.all(requests)).to.deep.equal(['gone', 'gone']);
    expect(await countSlots(api.deps.db)).to.deep.equal({ used: 0, waiting: 0 });
  });

  it('repeat a requirement that another reader withdrew at the same time', async () => {
    const row = () => findSession(api.deps.db, session);
    const gone = new AbortController();
    const requests = api
      .fetch(`/api/v1/stream/${session}/v0/segments/2.m4s`, { headers: owner.headers, signal: gone.signal })
      .catch(() => 'gone');
    await eventually(async () => (await row())?.wanted_rendition === 'v0');
    const { db } = api.deps;
    const held = { state: 'running', lease_until: new Date(Date.now() + 60_000) };
    await db('transcode_sessions').where({ id: session }).update(held);
    await withdrawWant(db, { id: session, rendition: 'v0', segment: 2 });
    expect((await row())?.wanted_rendition).to.equal(null);
    await eventually(async () => (await row())?.wanted_rendition === 'v0');
    gone.abort();
    expect(await requests).to.equal('gone');
    await eventually(async () => (await row())?.wanted_rendition === null);
    await db('transcode_sessions').where({ id: session }).update({ state: 'idle', lease_until: null });
  });

  it('are eight of a session in all pods together: the oldest gives up', async () => {
    const other = connectRedis(api.config.redisUrl, api.deps.log);
    atEnd(() => other.disconnect());
    const gone = new AbortController();
    const pods = [api.deps, { ...api.deps, redis: other }].map(
      (deps) => ({ deps, signal: gone.signal }) as unknown as Call,
    );
    const ended: string[] = [];
    const waits: Promise<void>[] = [];
    const wait = (n: number): Promise<unknown> =>
      new Promise<void>((looked) => {
        const waited = waitUntil(pods[n % 2] as unknown as Call, session, {
          look: async () => undefined,
          onMiss: async () => looked(),
        });
        waits.push(
          waited.catch((error: unknown) => {
            const { code, details } = error as ApiError;
            if (!gone.signal.aborted)
              ended.push(`${n} ${code} ${(details as { retryAfterSec: number }).retryAfterSec}`);
          }) as Promise<void>,
        );
      });
    for (let n = 0; n < 8; n += 1) await wait(n);
    expect(ended).to.deep.equal([]);
    for (let n = 8; n < 10; n += 1) await wait(n);
    await eventually(() => ended.length === 2, 20_000);
    expect(ended).to.have.members(['0 TRANSCODE_LIMIT_REACHED 1', '1 TRANSCODE_LIMIT_REACHED 1']);
    gone.abort();
    await Promise.all(waits);
    expect(await api.deps.redis.zcard(`foyer:transcode:waiting:${session}`)).to.equal(0);
  });
});
