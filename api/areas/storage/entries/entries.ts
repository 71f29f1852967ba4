import type { Call } from '#kernel/endpoint.ts';
import { invalid, notFound } from '#kernel/errors.ts';
import { type Page, parseSort, readCursor, scopeOf, writeCursor } from '#kernel/page.ts';
import type { SortTerm } from '#kernel/sort.ts';
import { Absent, joined, type Listed, type Listing, StorageFault, type StorageReader } from '../readers/reader.ts';
import { unavailableError } from '../saved.ts';
import type { EntriesQuery, Entry } from '../storages.schemas.ts';

/** A larger folder is listed in the order of the storage, up to this many. */
const MOST_ENTRIES = 50_000;
/** Any id: the name of an entry is its key. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

const sorts = {
  name: { column: 'name', type: 'text' },
  modifiedAt: { column: 'modified_at', type: 'bigint' },
} as const;

/** Names of systems that no library has. */
const SYSTEM = new Set(['lost+found', '$RECYCLE.BIN', 'System Volume Information', '@eaDir', '#recycle', '@Recycle']);

const isShown = ({ name }: Listed): boolean => !name.startsWith('.') && !SYSTEM.has(name);

interface Wanted extends Pick<EntriesQuery, 'path' | 'q' | 'cursor' | 'limit'> {
  sort?: string | undefined;
  kind: 'directory' | 'any';
  /** Operation and storage or root, which a cursor is bound to. */
  of: string;
  /** For the error, when the storage does not answer. */
  storageId: string;
  /** The folder is chosen by the caller: one that is not there is a fault of the path. */
  absent: 'not-found' | 'bad-path';
}

/** A page of one folder, read now. Throws 423 when the storage does not answer. */
export async function pageOfEntries(
  call: Call,
  reader: StorageReader,
  wanted: Wanted,
): Promise<{ items: Entry[]; page: Page }> {
  const path = joined(wanted.path);
  const { entries, cut } = await listing(call, reader, { ...wanted, path });
  const terms = parseSort(wanted.sort, sorts, 'name');
  const term = wanted.q?.toLowerCase();
  const shown = entries.filter(
    (entry) =>
      isShown(entry) &&
      (wanted.kind === 'any' || entry.kind === 'directory') &&
      (term === undefined || entry.name.toLowerCase().includes(term)),
  );
  const ordered = cut ? shown : shown.toSorted((a, b) => compare(terms, a, b));
  const scope = scopeOf({ scope: JSON.stringify([wanted.of, path, wanted.kind, wanted.q]), terms });
  const from =
    wanted.cursor === undefined
      ? 0
      : startOf(readCursor(call.deps.keys, scope, wanted.cursor), { ordered, terms, cut });
  const items = ordered.slice(from, from + wanted.limit);
  const hasMore = from + items.length < ordered.length;
  const last = items.at(-1);
  const at = cut ? [from + items.length] : keyOf(terms, last);
  return {
    items: items.map((entry) => toEntry(path, entry)),
    page: {
      cursor: hasMore ? writeCursor(call.deps.keys, scope, { values: at, id: NO_ID }) : null,
      hasMore,
      ...(!cut && wanted.cursor === undefined && { total: ordered.length }),
    },
  };
}

async function listing(call: Call, reader: StorageReader, { path, storageId, absent }: Wanted): Promise<Listing> {
  try {
    return await reader.list(path, { most: MOST_ENTRIES, signal: call.signal });
  } catch (error) {
    if (error instanceof StorageFault) throw unavailableError(call, storageId, error.reason);
    if (!(error instanceof Absent)) throw error;
    throw absent === 'not-found' ? notFound() : invalid(['query', 'path'], 'no_such_folder', 'there is no such folder');
  }
}

type Value = string | number;

const fieldOf = ({ name: field }: SortTerm, entry: Listed): Value =>
  field === 'modifiedAt' ? entry.modifiedMs : entry.name;

/** The values of the sort and the name, which is unique in a folder. */
const keyOf = (terms: readonly SortTerm[], entry: Listed | undefined): Value[] =>
  entry ? [...terms.map((term) => fieldOf(term, entry)), entry.name] : [];

const byValue = (a: Value, b: Value): number => (a === b ? 0 : a < b ? -1 : 1);

function compareKeys(terms: readonly SortTerm[], a: readonly Value[], b: readonly Value[]): number {
  for (const [index, value] of a.entries()) {
    const order = byValue(value, b[index] ?? '') * (terms[index]?.descending ? -1 : 1);
    if (order !== 0) return order;
  }
  return 0;
}

const compare = (terms: readonly SortTerm[], a: Listed, b: Listed): number =>
  compareKeys(terms, keyOf(terms, a), keyOf(terms, b));

interface Ordered {
  ordered: readonly Listed[];
  terms: readonly SortTerm[];
  cut: boolean;
}

/** The first entry after the cursor, also when the folder changed in between. */
function startOf({ values }: { values: (Value | null)[] }, { ordered, terms, cut }: Ordered): number {
  if (cut || values.length === 1) return Number(values[0] ?? 0);
  const key = values.map((value) => value ?? '');
  const at = ordered.findIndex((entry) => compareKeys(terms, keyOf(terms, entry), key) > 0);
  return at < 0 ? ordered.length : at;
}

function toEntry(path: string, { name, kind, size, modifiedMs, readable, symlink }: Listed): Entry {
  return {
    ...{ name, path: joined(path, name), kind, readable },
    ...(kind === 'file' && { sizeBytes: size }),
    ...(modifiedMs > 0 && { modifiedAt: new Date(modifiedMs).toISOString() }),
    ...(symlink && { symlink }),
  };
}
