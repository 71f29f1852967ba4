import { TEXT_CODECS } from '#areas/streaming/public.ts';
import { ageSql } from '#identity/visibility.ts';
import type { Db } from '#platform/db.ts';
import type { EventFacts } from '#platform/events.ts';
import type { Probed } from '#workers/probe/probe.ts';
import type { Work } from '#workers/work.ts';
import type { AdoptedItem } from '../store/adopt.ts';
import { rowsOf } from '../store/context.ts';
import type { WrittenFile } from '../store/files.ts';
import type { Resolved } from '../store/item-rows.ts';
import type { ReportedItem } from '../store/leave.ts';
import type { Scan } from './scan.ts';

interface Told {
  resolved: Resolved;
  files: readonly WrittenFile[];
  /** Files whose sidecars changed. */
  touched: ReadonlySet<string>;
  /** Items whose sums changed. */
  rolled: readonly string[];
  /** Items that went. */
  left: readonly ReportedItem[];
  /** Items that came from other libraries, as they were there. */
  adopted: readonly AdoptedItem[];
  /** Items of other libraries changed too. */
  others: boolean;
  /** The ages that items were for before. */
  ages: Ages;
}

/** By item; null is not rated. */
export type Ages = ReadonlyMap<string, number | null>;

/** Events of one batch (none during the first scan of a library), and jobs for files whose container has no index. */
export async function emitItemEvents(scan: Scan, db: Db, told: Told): Promise<void> {
  for (const { id, placed } of told.files) {
    const { read } = placed;
    if (read && 'probed' in read) {
      await askForReading(scan.work, db, { id, libraryId: scan.library.id, probed: read.probed });
    }
  }
  if (scan.library.first && !told.others) return;
  const left = new Set(told.left.map(({ id }) => id));
  const came = new Set([...told.resolved.added, ...told.adopted.map(({ id }) => id)]);
  const placed = told.files.map((file) => file.placed).filter(({ itemId, draft }) => came.has(itemId) && !draft.extra);
  const brought = told.adopted.filter(({ id, listed }) => listed && !left.has(id)).map(({ id }) => id);
  const added = new Set([...brought, ...placed.map(({ itemId }) => itemId)]);
  const refreshed = told.files
    .filter(({ id, placed }) => placed.read !== undefined || told.touched.has(id))
    .map(({ placed }) => placed.itemId);
  const updated = new Set([...told.resolved.changed, ...told.rolled, ...refreshed]);
  const gone = [...told.left, ...told.adopted];
  await tell(scan, db, { name: 'item.deleted', ids: gone.map(({ id }) => id), gone });
  await tell(scan, db, { name: 'item.added', ids: [...added] });
  await tell(scan, db, {
    name: 'item.updated',
    ids: [...updated].filter((id) => !came.has(id) && !left.has(id)),
    ages: told.ages,
  });
}

interface Teller {
  work: Pick<Scan['work'], 'emit'>;
  /** Nothing is told of one that is scanned for the first time. */
  library: Pick<Scan['library'], 'id'> & { first?: boolean };
}

interface News {
  name: 'item.added' | 'item.updated' | 'item.deleted';
  ids: readonly string[];
  changed?: string[];
  /** Where a rating changed, some saw the item before that do not now, or the other way round. */
  ages?: Ages;
  /** Rows of those that are deleted by now. */
  gone?: readonly ReportedItem[];
}

/** One event for each item in the library that holds it, with what readers with `library:manage` see of it. */
export async function tell(
  { work, library }: Teller,
  db: Db,
  { name, ids, changed, ages, gone = [] }: News,
): Promise<void> {
  if (ids.length === 0) return;
  const rows = await rowsOf<ReportedItem>(
    db,
    `select i.id, i.library_id, i.type, i.title, ${ageSql('i')} as age_years, i.labels from items i where i.id = any(?::uuid[])`,
    [ids],
  );
  const known = new Map([...rows, ...gone].map((row) => [row.id, row]));
  const silent = library.first ? library.id : undefined;
  for (const itemId of ids) {
    const row = known.get(itemId);
    const { library_id: libraryId } = row ?? { library_id: library.id };
    const base = { itemId, libraryId };
    const payload = { ...base, ...(row && { type: row.type, title: row.title }), ...(changed && { changed }) };
    const facts = { ...base, ...(row && factsOf(row, ages)) };
    if (libraryId !== silent) await work.emit(db, name, { payload, facts });
  }
}

/** Age 0 is for everybody; none is not rated. */
function factsOf(item: ReportedItem, ages: Ages | undefined): Pick<EventFacts, 'ageYears' | 'labels' | 'before'> {
  const { age_years: age, labels } = item;
  return { ...(age !== null && { ageYears: age }), labels, ...agedFrom(item, ages) };
}

function agedFrom({ id, age_years: now }: ReportedItem, ages: Ages | undefined): Pick<EventFacts, 'before'> {
  const before = ages?.get(id);
  return before === undefined || before === now ? {} : { before: { ageYears: before } };
}

/** The ages that items are for now. */
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

/** What only a reading of the whole file tells, where its container has no index: keyframes, and the texts inside. */
export async function askForReading(work: Pick<Work, 'enqueue'>, db: Db, file: ReadFile): Promise<void> {
  if (lacksKeyframes(file.probed)) await ask(work, db, { kind: 'media.keyframes', ...file });
  if (hasTextsToLookFor(file.probed)) await ask(work, db, { kind: 'subtitles.extract', ...file });
}

function lacksKeyframes({ file, keyframes }: Probed): boolean {
  return !keyframes && file.streams.some((stream) => stream.kind === 'video' && !stream.attachedPicture);
}

/** Of the others a text is found by the index when somebody asks for it. */
const INDEXED = ['matroska', 'webm', 'mp4'];

function hasTextsToLookFor({ file: { container, streams } }: Probed): boolean {
  return (
    !INDEXED.includes(container) &&
    streams.some(({ kind, codec }) => kind === 'subtitle' && TEXT_CODECS.includes(codec))
  );
}

async function ask(
  work: Pick<Work, 'enqueue'>,
  db: Db,
  { kind, id, libraryId }: ReadFile & { kind: 'media.keyframes' | 'subtitles.extract' },
): Promise<void> {
  await work.enqueue(db, kind, {
    payload: { fileId: id },
    options: { key: `${kind}:${id}`, priority: 70, cause: 'scan', libraryId, target: { kind: 'file', id } },
  });
}
