// A guide that a real web server serves, and the jobs that read it.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import pg from 'pg';
import { newId } from '#platform/ids.ts';
import { emit } from '#platform/outbox.ts';
import { ALIVE, enqueue } from '#platform/queue.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenItem, givenLibrary } from '#support/given-items.ts';
import { atEnd } from '#support/stores.ts';
import { createGuideRefresh } from '#workers/live/guide/refresh.ts';
import { Postponed, type Work } from '#workers/work.ts';

/** What the guide server answers next. */
export interface Served {
  body: Buffer | string;
  status: number;
  headers: Record<string, string>;
  requests: IncomingMessage[];
  url: string;
  /** A body that is too large for memory. */
  stream?: () => Readable;
}

export async function newGuideServer(): Promise<Served> {
  const served: Served = { body: '', status: 200, headers: {}, requests: [], url: '' };
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    served.requests.push(request);
    const known = served.headers['etag'] !== undefined && request.headers['if-none-match'] === served.headers['etag'];
    response.writeHead(known ? 304 : served.status, served.headers);
    if (served.stream && !known) served.stream().pipe(response);
    else response.end(known ? undefined : served.body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  served.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/tv.xml`;
  return served;
}

const two = (n: number): string => String(n).padStart(2, '0');
/** A time as XMLTV writes it, in UTC. */
export function xmltvTime(at: Date): string {
  const [y, m, d] = [at.getUTCFullYear(), two(at.getUTCMonth() + 1), two(at.getUTCDate())];
  return `${y}${m}${d}${two(at.getUTCHours())}${two(at.getUTCMinutes())}${two(at.getUTCSeconds())} +0000`;
}

export interface Show {
  channel?: string;
  /** Minutes after the hour that the test started in. */
  at: number;
  minutes?: number;
  title: string;
  more?: string;
}

const BASE = Math.floor(Date.now() / 3_600_000) * 3_600_000;
export const minute = (at: number): Date => new Date(BASE + at * 60_000);

export const programme = ({ channel = 'one.example', at, minutes = 60, title, more = '' }: Show): string =>
  `<programme start="${xmltvTime(minute(at))}" stop="${xmltvTime(minute(at + minutes))}" channel="${channel}"><title>${title}</title>${more}</programme>`;

export const guideOf = (shows: readonly Show[], channels: readonly string[] = ['one.example']): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE tv SYSTEM "xmltv.dtd">\n<tv>${channels
    .map((id) => `<channel id="${id}"><display-name>${id.split('.')[0]}</display-name></channel>`)
    .join('')}${shows.map(programme).join('\n')}</tv>`;

export interface GuidePlaceForTests {
  api: Api;
  admin: TestClient;
  manager: Person;
  library: GivenLibrary;
  served: Served;
  /** A channel of the library. */
  channel(number: string, more?: Record<string, unknown>): Promise<string>;
  work(): Work;
  /** Runs the job of the source as a worker would; false when it waits for its next attempt. */
  refresh(sourceId: string): Promise<boolean>;
  /** Source and its first refresh. */
  source(more?: object): Promise<string>;
}

/** The work of one job over its attempts: it keeps its checkpoint. */
export function attemptsOf(work: () => Work, noted: unknown = null): () => Work {
  let checkpoint = noted;
  const keep: Work['keep'] = async (_db, next) => {
    checkpoint = next;
  };
  return () => ({ ...work(), checkpoint, keep });
}

/** Holds the lock by which the API knows that a worker runs, and runs the orders of requests. */
async function keepOrders(api: Api, work: () => Work): Promise<void> {
  const alive = new pg.Client({ connectionString: api.config.databaseUrl });
  await alive.connect();
  await alive.query('select pg_advisory_lock($1, 7)', [ALIVE]);
  const run = createGuideRefresh();
  const runOrders = async (): Promise<void> => {
    const rows = await api.deps
      .db('jobs')
      .where({ kind: 'live.guide', state: 'waiting' })
      .whereRaw(`payload->>'order' is not null`);
    for (const { id, payload } of rows) {
      await api.deps.db('jobs').where({ id }).update({ state: 'active' });
      const result = await run(payload as { order: string }, work());
      await api.deps
        .db('jobs')
        .where({ id })
        .update({ state: 'completed', result: JSON.stringify(result) });
    }
  };
  const timer = setInterval(() => void runOrders(), 30);
  atEnd(async () => {
    clearInterval(timer);
    await alive.end();
  });
}

/** A server that reads guides of this machine. */
export const GUIDE_HERE = { FOYER_LIVE_NETWORKS: '["127.0.0.1/32"]' };

export async function newGuidePlace(given?: Api): Promise<GuidePlaceForTests> {
  const api = given ?? (await startApi(GUIDE_HERE));
  const { db } = api.deps;
  const manager = await api.given.admin();
  const library = await givenLibrary(db, 'livetv');
  const served = await newGuideServer();
  const work = (): Work => ({
    ...api.deps,
    ...{ jobId: newId(), attempt: 1, signal: new AbortController().signal, checkpoint: null, emit, enqueue },
    ...{ keep: async () => undefined, report: async () => undefined },
  });
  await keepOrders(api, work);
  const admin = api.as(manager);
  const place: GuidePlaceForTests = {
    ...{ api, admin, manager, library, served, work },
    async channel(number, more = {}) {
      const { item = {}, ...columns } = more as { item?: object };
      const id = await givenItem(db, library, { type: 'channel', title: `Channel ${number}`, ...item });
      const [major = 0, minor = 0] = number.split('.').map(Number);
      const order = major * 1000 + minor;
      const row = { id, library_id: library.id, number, number_order: order, name: `Channel ${number}` };
      await db('live_channels').insert({ ...row, ...columns });
      return id;
    },
    async refresh(sourceId) {
      const job = await db('jobs')
        .where({ kind: 'live.guide' })
        .whereIn('state', ['waiting', 'delayed'])
        .whereRaw(`payload->>'sourceId' = ?`, [sourceId])
        .first('id');
      try {
        await createGuideRefresh()({ sourceId }, work());
      } catch (error) {
        if (error instanceof Postponed) return false;
        throw error;
      } finally {
        if (job) await db('jobs').where({ id: job.id }).update({ state: 'completed' });
      }
      return true;
    },
    async source(more = {}) {
      const body = { name: 'Guide', kind: 'xmltv', url: served.url, ...more };
      const answer = await admin.createGuideSource({ body } as never);
      if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
      const { id } = answer.body as { id: string };
      await place.refresh(id);
      return id;
    },
  };
  return place;
}
