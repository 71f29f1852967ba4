import { getVisibleItem, type VisibleItem } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, invalid, notFound } from '#kernel/errors.ts';
import type { ReadingPosition, SetReading } from './progress.schemas.ts';
import { findState, writeReading } from './progress.store.ts';
import { refuseStrangeFile } from './progress.ts';
import { pageOf, pagesOf, readingOf } from './reading.view.ts';

const READABLE = ['book', 'comic', 'audiobook'];

async function readable({ db, who }: Call, id: string): Promise<VisibleItem> {
  const item = await getVisibleItem(db, who, id);
  if (!READABLE.includes(item.type)) throw conflict('not-readable-item', 'This has no pages');
  return item;
}

export async function readReading(call: Call, id: string): Promise<ReadingPosition> {
  const item = await readable(call, id);
  const state = await findState(call.db, call.who.profileId, item.id);
  const reading = await readingOf(call.db, item, state);
  if (!reading) throw notFound();
  return reading;
}

/** A page behind the last is 400; the last page, or `finished`, marks it watched. */
export async function setReading(call: Call, id: string, body: SetReading): Promise<ReadingPosition> {
  const { db, who, now, client } = call;
  const item = await readable(call, id);
  await refuseStrangeFile(call, item.id, body.fileId);
  const pages = await pagesOf(db, item.id);
  const page = pageOf(body.value);
  if (page && pages && page > pages) throw invalid(['body', 'value'], 'too_big', `the last page is ${pages}`);
  const at = body.at && new Date(body.at) < now ? new Date(body.at) : now;
  const place = { profileId: who.profileId, itemId: item.id, libraryId: item.libraryId };
  const reading = { ...placeIn(body, page, pages), deviceName: client.name ?? null, at: at.toISOString() };
  const state = await writeReading(db, { ...place, at, reading, fileId: body.fileId ?? null });
  const kept = await readingOf(db, item, state);
  if (!kept) throw notFound();
  return kept;
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
