import { getVisibleItem, holdVisibleItem, type VisibleItem } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, invalid, notFound } from '#kernel/errors.ts';
import type { ReadingPosition, SetReading } from './progress.schemas.ts';
import { findState, type StateRow, writeReading } from './progress.store.ts';
import { refuseForeignFile } from './progress.ts';
import { pageOf, pagesOf, readingOf } from './reading.view.ts';
import { emitState } from './state-event.ts';

const READABLE = ['book', 'comic', 'audiobook'];

async function readable({ db, who }: Call, id: string): Promise<VisibleItem> {
  const item = await getVisibleItem(db, who, id);
  refuseUnreadable(item);
  return item;
}

function refuseUnreadable(item: VisibleItem): void {
  if (!READABLE.includes(item.type)) throw conflict('not-readable-item', 'This has no pages');
}

export async function readReading(call: Call, id: string): Promise<ReadingPosition> {
  const item = await readable(call, id);
  const state = await findState(call.db, call.who.profileId, item.id);
  const reading = await readingOf(call.db, item, state);
  if (!reading) throw notFound();
  return reading;
}

/** A position older than the stored one changes nothing; the response has the stored one. */
export async function setReading(call: Call, id: string, body: SetReading): Promise<ReadingPosition> {
  const { db, who } = call;
  const item = await holdVisibleItem(db, who, id);
  if (await takeReading(call, item, body)) await emitState(call, { what: ['reading'], itemIds: [item.id] });
  const state = await findState(db, who.profileId, item.id);
  return (await readingOf(db, item, state)) ?? (await beginning(call, item, state));
}

/** Only the watched state is stored, so the position is the first page. */
async function beginning({ db, now }: Call, item: VisibleItem, state: StateRow | undefined): Promise<ReadingPosition> {
  const pages = await pagesOf(db, item.id);
  const finished = state?.watched ?? false;
  return {
    ...{ itemId: item.id, fileId: null, value: 'page:1', page: 1, ...(pages !== undefined && { pages }) },
    ...{ progress: finished ? 1 : 0, finished, deviceName: null },
    updatedAt: (state?.state_at ?? now).toISOString(),
  };
}

/**
 * Throws 400 for a page beyond the last. The last page, or `finished`, marks the item as watched. False for a position
 * older than the stored one.
 */
export async function takeReading(call: Call, item: VisibleItem, body: SetReading): Promise<boolean> {
  const { db, who, now, client } = call;
  refuseUnreadable(item);
  await refuseForeignFile(call, item.id, body.fileId);
  const pages = await pagesOf(db, item.id);
  const page = pageOf(body.value);
  if (page && pages && page > pages) throw invalid(['body', 'value'], 'too_big', `the last page is ${pages}`);
  const at = body.at && new Date(body.at) < now ? new Date(body.at) : now;
  const place = { profileId: who.profileId, itemId: item.id, libraryId: item.libraryId };
  const reading = { ...placeIn(body, page, pages), deviceName: client.name ?? null, at: at.toISOString() };
  return writeReading(db, { ...place, at, reading, fileId: body.fileId ?? null });
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
    finished: body.finished === true || (known && page === pages),
  };
}
