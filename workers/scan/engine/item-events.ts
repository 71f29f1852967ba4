import { TEXT_CODECS } from '#areas/streaming/public.ts';
import { ageSql } from '#identity/visibility.ts';
import type { Db } from '#platform/db.ts';
import type { EventFacts } from '#platform/events.ts';
import { emitMany } from '#platform/outbox.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Probed } from '#workers/probe/probe.ts';
import { mayBeForced } from '#workers/subtitles/forced-pictures.ts';
import type { Work } from '#workers/work.ts';
import type { AdoptedItem } from '../store/adopt.ts';
import type { WrittenFile } from '../store/files.ts';
import type { Resolved } from '../store/item-rows.ts';
import type { ReportedItem } from '../store/leave.ts';
import type { Scan } from './scan.ts';

interface BatchChanges {
  resolved: Resolved;
  files: readonly WrittenFile[];
  /** Ids of files whose sidecars changed. */
  touched: ReadonlySet<string>;
  /** Items whose rollups changed. */
  rolled: readonly string[];
  /** Deleted items. */
  left: readonly ReportedItem[];
  /** Items adopted from other libraries, as they were there. */
  adopted: readonly AdoptedItem[];
  /** Whether items of other libraries changed too. */
  others: boolean;
  /** The age limits of items before the change. */
  ages: Ages;
}

/** Age limit by item; null is not rated. */
export type Ages = ReadonlyMap<string, number | null>;

/**
 * Emits the events of one batch (none during the first scan of a library), and enqueues jobs for files whose container
 * has no index.
 */
export async function emitItemEvents(scan: Scan, db: Db, changes: BatchChanges): Promise<void> {
  for (const { id, placed } of changes.files) {
    const { read } = placed;
    if (read && 'probed' in read) {
      await enqueueReading(scan.work, db, { id, libraryId: scan.library.id, probed: read.probed });
    }
  }
  if (scan.library.first && !changes.others) return;
  const left = new Set(changes.left.map(({ id }) => id));
  const came = new Set([...changes.resolved.added, ...changes.adopted.map(({ id }) => id)]);
  const placed = changes.files
    .map((file) => file.placed)
    .filter(({ itemId, draft }) => came.has(itemId) && !draft.extra);
  const brought = changes.adopted.filter(({ id, listed }) => listed && !left.has(id)).map(({ id }) => id);
  const added = new Set([...brought, ...placed.map(({ itemId }) => itemId)]);
  const refreshed = changes.files
    .filter(({ id, placed }) => placed.read !== undefined || changes.touched.has(id))
    .map(({ placed }) => placed.itemId);
  const updated = new Set([...changes.resolved.changed, ...changes.rolled, ...refreshed]);
  const gone = [...changes.left, ...changes.adopted];
  await emitItems(scan, db, { name: 'item.deleted', ids: gone.map(({ id }) => id), gone });
  await emitItems(scan, db, { name: 'item.added', ids: [...added] });
  await emitItems(scan, db, {
    name: 'item.updated',
    ids: [...updated].filter((id) => !came.has(id) && !left.has(id)),
    ages: changes.ages,
  });
}

interface Emitter {
  /** No events are emitted for a library during its first scan. */
  library: Pick<Scan['library'], 'id'> & { first?: boolean };
}

interface ItemEvents {
  name: 'item.added' | 'item.updated' | 'item.deleted';
  ids: readonly string[];
  /** Names of changed fields, or those of each item. */
  changed?: string[] | ReadonlyMap<string, string[]>;
  /** Previous age limits: a changed rating changes who may see the item. */
  ages?: Ages;
  /** Rows of items that are deleted already. */
  gone?: readonly ReportedItem[];
}

/** One event for each item in its library, with the facts that select its readers. */
export async function emitItems(
  { library }: Emitter,
  db: Db,
  { name, ids, changed, ages, gone = [] }: ItemEvents,
): Promise<void> {
  if (ids.length === 0) return;
  const rows = await rowsOf<ReportedItem>(
    db,
    `select i.id, i.library_id, coalesce(i.own_type, i.type) as type, i.title, ${ageSql('i')} as age_years, i.labels from items i where i.id = any(?::uuid[])`,
    [ids],
  );
  const known = new Map([...rows, ...gone].map((row) => [row.id, row]));
  const silent = library.first ? library.id : undefined;
  const events = ids.flatMap((itemId) => {
    const row = known.get(itemId);
    const { library_id: libraryId } = row ?? { library_id: library.id };
    if (libraryId === silent) return [];
    const base = { itemId, libraryId };
    const fields = Array.isArray(changed) ? changed : changed?.get(itemId);
    const payload = { ...base, ...(row && { type: row.type, title: row.title }), ...(fields && { changed: fields }) };
    return [{ payload, facts: { ...base, ...(row && factsOf(row, ages)) } }];
  });
  await emitMany(db, name, events);
}

/** Age 0 is for everyone; no age means not rated. */
function factsOf(item: ReportedItem, ages: Ages | undefined): Pick<EventFacts, 'ageYears' | 'labels' | 'before'> {
  const { age_years: age, labels } = item;
  return { ...(age !== null && { ageYears: age }), labels, ...agedFrom(item, ages) };
}

function agedFrom({ id, age_years: now }: ReportedItem, ages: Ages | undefined): Pick<EventFacts, 'before'> {
  const before = ages?.get(id);
  return before === undefined || before === now ? {} : { before: { ageYears: before } };
}

/** The current age limits of items. */
export async function agesOf(db: Db, ids: readonly string[]): Promise<Ages> {
  const rows = await rowsOf<{ id: string; age: number | null }>(
    db,
    `select i.id, ${ageSql('i')} as age from items i where i.id = any(?::uuid[])`,
    [ids],
  );
  return new Map(rows.map(({ id, age }) => [id, age]));
}

interface ReadFile {
  id: string;
  libraryId: string;
  probed: Probed;
}

/**
 * Enqueues jobs that read the whole file, when the container has no index: for keyframes and embedded texts; and one that looks at
 * picture subtitles.
 */
export async function enqueueReading(work: Pick<Work, 'enqueue'>, db: Db, file: ReadFile): Promise<void> {
  if (lacksKeyframes(file.probed)) await enqueueFor(work, db, { kind: 'media.keyframes', ...file });
  if (hasTextsToLookFor(file.probed)) await enqueueFor(work, db, { kind: 'subtitles.extract', ...file });
  if (file.probed.file.streams.some(mayBeForced))
    await enqueueFor(work, db, { kind: 'subtitles.extract', forced: true, ...file });
}

function lacksKeyframes({ file, keyframes }: Probed): boolean {
  return !keyframes && file.streams.some((stream) => stream.kind === 'video' && !stream.attachedPicture);
}

/** In these containers, texts are found by the index on request. */
const INDEXED = ['matroska', 'webm', 'mp4'];

function hasTextsToLookFor({ file: { container, streams } }: Probed): boolean {
  return (
    !INDEXED.includes(container) &&
    streams.some(({ kind, codec }) => kind === 'subtitle' && TEXT_CODECS.includes(codec))
  );
}

async function enqueueFor(
  work: Pick<Work, 'enqueue'>,
  db: Db,
  { kind, id, libraryId, forced }: ReadFile & { kind: 'media.keyframes' | 'subtitles.extract'; forced?: true },
): Promise<void> {
  await work.enqueue(db, kind, {
    payload: { fileId: id, ...(forced && { forced }) },
    options: {
      key: `${kind}${forced ? '.forced' : ''}:${id}`,
      priority: 70,
      cause: 'scan',
      libraryId,
      target: { kind: 'file', id },
    },
  });
}
