import type { z } from 'zod';
import { findItemSummaries } from '#areas/items/public.ts';
import { findSession, type SessionRow } from '#areas/viewing/public.ts';
import { may, requirePermission } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { type Page, pageOf, parseSort, type SortTable } from '#kernel/page.ts';
import type { PlaybackSession } from '../playback.schemas.ts';
import { toSession } from './session.view.ts';

type Session = z.input<typeof PlaybackSession>;

const KEPT_MS = 24 * 3_600_000;

export const sessionSorts: SortTable = {
  startedAt: { column: 's.started_at', type: 'timestamptz' },
  lastReportAt: { column: 's.last_report_at', type: 'timestamptz' },
};

interface SessionFilter {
  scope: 'mine' | 'all';
  userId?: string | undefined;
  itemId?: string | undefined;
  method?: string | undefined;
  state?: string | undefined;
}

interface SessionQuery extends SessionFilter {
  cursor?: string | undefined;
  limit: number;
  sort?: string | undefined;
  include?: 'item' | undefined;
}

/** Sessions of the caller's account, or with session:manage of others. */
export async function listSessions(call: Call, query: SessionQuery): Promise<{ items: Session[]; page: Page }> {
  const { db, who, deps } = call;
  const { cursor, limit, sort, include, ...filter } = query;
  const found = await pageOf<SessionRow, SessionRow>(db, selectSessions(call, filter), {
    keys: deps.keys,
    terms: parseSort(sort, sessionSorts, '-startedAt'),
    cursor,
    limit,
    scope: JSON.stringify(['listPlaybackSessions', who.accountId, filter]),
    idColumn: 's.id',
    toItem: (row) => row,
  });
  return { items: await withItems(call, found.items, include !== undefined), page: found.page };
}

function selectSessions({ db, who, now }: Call, { scope, userId, itemId, method, state }: SessionFilter) {
  const others = scope === 'all' || (userId !== undefined && userId !== who.accountId);
  if (others) requirePermission(who, 'session:manage');
  const list = db('playback_sessions as s').select('s.*');
  if (!others) list.where('s.account_id', who.accountId);
  if (userId) list.where('s.account_id', userId);
  if (itemId) list.where('s.item_id', itemId);
  if (method) list.where('s.method', method);
  if (state) list.where('s.state', state);
  else list.whereNot('s.state', 'stopped');
  return list.whereRaw(`(s.stopped_at is null or s.stopped_at > ?)`, [new Date(now.getTime() - KEPT_MS)]);
}

/** Throws 404 for another account's session without session:manage, and for one that stopped more than a day ago. */
export async function readSession(call: Call, id: string, includesItem: boolean): Promise<Session> {
  const row = await findSession(call.db, id);
  const own = row?.account_id === call.who.accountId;
  if (!row || !(own || may(call.who, 'session:manage')) || isExpired(row, call.now)) throw notFound();
  const [session] = await withItems(call, [row], includesItem);
  if (!session) throw notFound();
  return session;
}

function isExpired(row: SessionRow, now: Date): boolean {
  return row.stopped_at !== null && now.getTime() - row.stopped_at.getTime() > KEPT_MS;
}

/** Leaves out items that the caller may not see, so an admin learns that an account plays, but not the item. */
async function withItems({ db, who }: Call, rows: readonly SessionRow[], includesItems: boolean): Promise<Session[]> {
  const items = includesItems
    ? await findItemSummaries(db, who, [...new Set(rows.map((row) => row.item_id))])
    : new Map();
  return rows.map((row) => {
    const item = items.get(row.item_id);
    return { ...toSession(row, who), ...(item && { item }) };
  });
}
