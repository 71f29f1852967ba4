import type { z } from 'zod';
import { getVisibleItem, type VisibleItem } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, invalid, notFound } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import type { ReadingPosition, SetReading } from './progress.schemas.ts';
import { findState, type StateRow, writeReading } from './progress.store.ts';

const READABLE = ['book', 'comic', 'audiobook'];

type Position = z.input<typeof ReadingPosition>;

async function readable({ db, who }: Call, id: string): Promise<VisibleItem> {
  const item = await getVisibleItem(db, who, id);
  if (!READABLE.includes(item.type)) throw conflict('not-readable-item', 'This has no pages');
  return item;
}

export async function readReading(call: Call, id: string): Promise<Position> {
  const item = await readable(call, id);
  const state = await findState(call.db, call.who.profileId, item.id);
  if (!state?.reading) throw notFound();
  return toPosition(item, state, await pagesOf(call.db, item.id));
}

/** A page behind the last is 400; the last page, or `finished`, marks it watched. */
export async function setReading(call: Call, id: string, body: SetReading): Promise<Position> {
  const { db, who, now, client } = call;
  const item = await readable(call, id);
  const pages = await pagesOf(db, item.id);
  const page = pageOf(body.value);
  if (page && pages && page > pages) throw invalid(['body', 'value'], 'too_big', `the last page is ${pages}`);
  const at = body.at && new Date(body.at) < now ? new Date(body.at) : now;
  const place = { profileId: who.profileId, itemId: item.id, libraryId: item.libraryId };
  const reading = { ...placeIn(body, page, pages), deviceName: client.name ?? null, at: at.toISOString() };
  const state = await writeReading(db, { ...place, at, reading });
  return toPosition(item, state, pages);
}

interface ReadTo {
  value: string;
  progress: number;
  finished: boolean;
}

function placeIn(body: SetReading, page: number | undefined, pages: number | undefined): ReadTo {
  const known = page !== undefined && pages !== undefined;
  return {
    value: body.value,
    progress: known ? page / pages : (body.progress ?? 0),
    finished: body.finished ?? (known && page === pages),
  };
}

function pageOf(value: string): number | undefined {
  return value.startsWith('page:') ? Number(value.slice(5)) : undefined;
}

async function pagesOf(db: Db, itemId: string): Promise<number | undefined> {
  const row = await db('items').where({ id: itemId }).first<{ details: { pages?: number } } | undefined>('details');
  return row?.details.pages;
}

function toPosition(item: VisibleItem, state: StateRow, pages: number | undefined): Position {
  const { reading } = state;
  if (!reading) throw notFound();
  const page = pageOf(reading.value);
  return {
    itemId: item.id,
    fileId: state.file_id,
    value: reading.value,
    progress: reading.progress,
    ...(page !== undefined && { page }),
    ...(pages !== undefined && { pages }),
    finished: reading.finished,
    deviceName: reading.deviceName,
    updatedAt: reading.at,
  };
}
