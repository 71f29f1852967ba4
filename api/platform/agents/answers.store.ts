// Answers of catalogues, each kept for a day by the hash of its request.

import { type Db, named } from '../db.ts';
import { sha256 } from '../keys.ts';
import type { CatalogueId, CatalogueRequest } from './agent.ts';

const FRESH_MS = 24 * 3_600_000;
/** Older answers serve for a revalidation by their ETag only. */
const KEPT = '14 days';

export interface KeptAnswer {
  /** 404 for what the catalogue does not have. */
  status: number;
  body: string | null;
  etag: string | null;
  fresh: boolean;
}

/** The name of a request in the cache. Credentials are no part of it. */
export function requestHash(agent: CatalogueId, base: string, request: CatalogueRequest): string {
  const { path, query = {}, method = 'GET', body } = request;
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  return sha256(JSON.stringify([agent, base, method, path, pairs.sort(([a], [b]) => (a < b ? -1 : 1)), body ?? null]));
}

export async function keptAnswer(db: Db, request: string): Promise<KeptAnswer | undefined> {
  const [row] = await named<Omit<KeptAnswer, 'fresh'> & { fetched_at: Date }>(db, {
    name: 'catalogue-answer',
    text: 'select status, body, etag, fetched_at from catalogue_answers where request = $1',
    values: [request],
  });
  if (!row) return undefined;
  const { status, body, etag } = row;
  return { status, body, etag, fresh: row.fetched_at.getTime() > Date.now() - FRESH_MS };
}

/** Keeps an answer, or, without a status, the known one for another day. */
export async function keepAnswer(
  db: Db,
  { request, agent }: { request: string; agent: CatalogueId },
  answer: { status: number; body: string | null; etag: string | null } | undefined,
): Promise<void> {
  const now = { fetched_at: db.raw('now()') };
  if (!answer) {
    await db('catalogue_answers').where({ request }).update(now);
    return;
  }
  await db('catalogue_answers')
    .insert({ request, agent, ...answer, ...now })
    .onConflict('request')
    .merge();
}

/** Deletes answers past their use. */
export async function trimAnswers(db: Db): Promise<void> {
  await db.raw(`delete from catalogue_answers where fetched_at < now() - interval '${KEPT}'`);
}
