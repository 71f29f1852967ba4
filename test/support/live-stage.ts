import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { seal } from '#platform/keys.ts';
import { SOFTWARE } from '#workers/transcode/encoders.ts';
import { TranscodeWorker } from '#workers/transcode/worker.ts';
import { type Api, startApi, type TestClient } from './api.ts';
import { atEnd, freePort, temporaryFolder } from './stores.ts';
import { type Broadcast, type TunerBox, tunerBox } from './tuner-box.ts';

/** Rows of Live TV, as scans leave them, and processes of tuners. */
export class LiveStage {
  readonly #api: Api;
  readonly libraryId = newId();
  readonly #space = temporaryFolder('live-space');
  #numbers = 0;

  constructor(api: Api) {
    this.#api = api;
  }

  async prepare(): Promise<void> {
    const row = { id: this.libraryId, name: 'Television', name_folded: 'television', type: 'livetv' };
    await this.#api.deps.db('libraries').insert(row);
  }

  async tuner(slots: number): Promise<string> {
    const id = newId();
    const row = { id, library_id: this.libraryId, name: 'Roof', kind: 'hdhomerun', slot_count: slots, state: 'ready' };
    await this.#api.deps.db('live_tuners').insert(row);
    return id;
  }

  /** A channel with its sources in order. */
  async channel(name: string, sources: { tunerId: string; url: string }[]): Promise<string> {
    const { db, keys } = this.#api.deps;
    const id = newId();
    this.#numbers += 1;
    const number = String(this.#numbers);
    const item = { id, library_id: this.libraryId, type: 'channel', identity_key: name, title: name, sort_title: name };
    await db('items').insert(item);
    const channel = { id, library_id: this.libraryId, number, number_order: this.#numbers * 1000, name };
    await db('live_channels').insert(channel);
    for (const [position, { tunerId, url }] of sources.entries()) {
      const source = newId();
      await db('live_sources').insert({
        ...{ id: source, channel_id: id, tuner_id: tunerId, remote_key: `${name}-${position}`, position },
        ...{ remote_number: number, remote_name: name },
        address: seal(keys, url, `live_sources|address|${source}`),
      });
    }
    return id;
  }

  /** The process of a tuner, as its pod runs it. */
  async process(tunerId: string, more: Record<string, string> = {}): Promise<ChildProcess> {
    const { config } = this.#api;
    const port = await freePort();
    const child = spawn(process.execPath, ['workers/tuner/main.ts'], {
      env: {
        PATH: process.env['PATH'] ?? '',
        FOYER_TUNER_SPEC: JSON.stringify({ source: { hdhomerun: { address: '127.0.0.1:9' } } }),
        FOYER_TUNER_NETWORKS: '["127.0.0.0/8"]',
        FOYER_TUNER_ID: tunerId,
        FOYER_TUNER_SPACE: this.#space,
        FOYER_DATABASE_URL: config.databaseUrl,
        FOYER_REDIS_URL: config.redisUrl,
        FOYER_OBJECTS_URL: config.objectsUrl,
        FOYER_KEYS_FILE: config.keysFile,
        FOYER_POD: `tuner-${tunerId}`,
        FOYER_PORT: String(port),
        FOYER_LOG_LEVEL: process.env['TEST_LOG'] ?? 'silent',
        ...more,
      },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    atEnd(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await exit;
    });
    return child;
  }

  /** A transcode worker in this process. */
  worker(): TranscodeWorker {
    const { config, deps } = this.#api;
    const { redis, objects, log } = deps;
    const db = deps.db as unknown as Db;
    const made = new TranscodeWorker({ config, db, redis, objects, log, encoder: SOFTWARE, threads: 1 });
    made.start();
    atEnd(() => made.stop());
    return made;
  }
}

/** A server whose owner watches one channel of one tuner, with the processes of both kinds. */
export interface WatchedChannel {
  api: Api;
  stage: LiveStage;
  box: TunerBox;
  channel: string;
  viewer: TestClient;
  headers: Record<string, string>;
}

export async function watchedChannel(kind: Broadcast | Buffer): Promise<WatchedChannel> {
  const api = await startApi();
  const stage = new LiveStage(api);
  await stage.prepare();
  const box = await tunerBox(kind, 1);
  const roof = await stage.tuner(1);
  const channel = await stage.channel('One', [{ tunerId: roof, url: box.channel('1') }]);
  const owner = await api.given.owner();
  stage.worker();
  await stage.process(roof);
  return { api, stage, box, channel, viewer: api.as(owner), headers: owner.headers };
}
