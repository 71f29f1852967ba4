import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, invalidAll } from '#kernel/errors.ts';
import type { Rules } from '#kernel/filter.ts';
import type { Db } from '#platform/db.ts';
import type { Transaction } from '#platform/typed-query.ts';
import { findCustomValues } from '../fields/custom-values.ts';
import { findFileRows, findFiles, seesPaths } from '../files/files.store.ts';
import { findItemDetails } from '../item/items.store.ts';
import { ItemDetail } from '../items.schemas.ts';
import { type Listing, listed } from '../listing/listing.ts';

const CHUNK = 1000;
/** Default columns of a CSV. */
const DEFAULT_COLUMNS = [
  'id',
  'type',
  'title',
  'year',
  'releasedOn',
  'rating',
  'genres',
  'runtimeMs',
  'sizeBytes',
  'addedAt',
];

export interface ExportQuery {
  format: 'ndjson' | 'csv';
  fields?: readonly string[] | undefined;
  listing: Listing;
  rules: Rules;
}

type Line = Partial<ItemDetail> & { paths?: string[] };

/** Throws 400 for an unknown field. `paths` needs library:manage. */
export function checkFields(call: Pick<Call, 'who'>, fields: readonly string[] | undefined): void {
  const known = new Set([...Object.keys(ItemDetail.shape), ...(seesPaths(call.who) ? ['paths'] : [])]);
  const issues = (fields ?? [])
    .filter((name) => !known.has(name))
    .map((name) => ({ path: ['query', 'fields'], code: 'unknown_field', message: `there is no field ${name}` }));
  if (issues.length > 0) throw invalidAll(issues);
}

/**
 * Writes the export to the response, with the count in the trailer X-Count. An account may run one export (429). The
 * transaction of the snapshot holds the lock.
 */
export async function exportItems(call: Call, options: ExportQuery): Promise<(response: ServerResponse) => void> {
  const snapshot = await call.deps.db.transaction(undefined, { isolationLevel: 'repeatable read', readOnly: true });
  try {
    const { rows } = await snapshot.raw<{ rows: { locked: boolean }[] }>(
      `select pg_try_advisory_xact_lock(hashtextextended('export:' || ?, 0)) as locked`,
      [call.who.accountId],
    );
    if (!rows[0]?.locked)
      throw new ApiError('RATE_LIMITED', 'Another export of yours is running', { retryAfterSec: 30 });
  } catch (error) {
    await snapshot.rollback();
    throw error;
  }
  return (response) => {
    const sent = { count: 0 };
    const text = Readable.from(lines({ ...call, db: snapshot }, { options, snapshot, sent }), { objectMode: false });
    pipeline(text, response, { end: false })
      .then(() => {
        response.addTrailers({ 'X-Count': String(sent.count) });
        response.end();
      })
      .catch(() => response.destroy()); // a truncated export has no trailer
  };
}

interface Running {
  options: ExportQuery;
  snapshot: Transaction;
  sent: { count: number };
}

/** Text of the export. The snapshot ends with it, also when the client disconnects. */
async function* lines(call: Call, { options, snapshot, sent }: Running): AsyncGenerator<string> {
  const write = options.format === 'csv' ? csv(options.fields ?? DEFAULT_COLUMNS) : ndjson(options.fields);
  try {
    yield write.head;
    for (let last: string | undefined; ; ) {
      const ids = await nextIds(call, options, last);
      last = ids.at(-1);
      if (last === undefined) break;
      const details = await linesOf(call, ids);
      sent.count += details.length;
      yield details.map((item) => write.line(item)).join('');
    }
    yield write.end(sent.count);
  } finally {
    await snapshot.rollback();
  }
}

async function nextIds(call: Call, { listing, rules }: ExportQuery, last: string | undefined): Promise<string[]> {
  const query = listed(call, listing, rules).select('i.id').orderBy('i.id').limit(CHUNK);
  if (last !== undefined) query.where('i.id', '>', last);
  const rows: { id: string }[] = await query;
  return rows.map((row) => row.id);
}

async function linesOf({ db, who }: { db: Db; who: Call['who'] }, ids: readonly string[]): Promise<Line[]> {
  const details = await findItemDetails(db, who, ids);
  const files = await findFiles(db, ids, { streams: undefined });
  const values = await findCustomValues(db, who, [...details.values()]);
  const paths = seesPaths(who) ? Map.groupBy(await findFileRows(db, ids, {}), (row) => row.item_id) : undefined;
  return ids.flatMap((id): Line[] => {
    const detail = details.get(id);
    if (!detail) return [];
    const own = paths?.get(id)?.map((row) => row.path);
    const custom = values.get(id);
    const whole = { ...detail, files: files.get(id) ?? [], ...(custom && { custom }) };
    return [{ ...ItemDetail.parse(whole), ...(paths ? { paths: own ?? [] } : {}) }];
  });
}

interface Writer {
  head: string;
  line(item: Line): string;
  end(count: number): string;
}

function ndjson(fields: readonly string[] | undefined): Writer {
  const pick = (item: Line): object =>
    fields ? Object.fromEntries(fields.map((name) => [name, item[name as keyof Line]])) : item;
  return {
    head: '',
    line: (item) => `${JSON.stringify(pick(item))}\n`,
    end: (count) => `${JSON.stringify({ end: true, count })}\n`,
  };
}

function csv(fields: readonly string[]): Writer {
  return {
    head: `${fields.map(cell).join(',')}\r\n`,
    line: (item) => `${fields.map((name) => cell(item[name as keyof Line])).join(',')}\r\n`,
    end: () => '',
  };
}

/** A cell that a spreadsheet would read as a formula begins with a quote mark. Lists are joined by `; `. */
export function cell(value: unknown): string {
  const text = textOf(value);
  const safe = typeof value !== 'number' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join('; ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
