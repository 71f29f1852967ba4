import { newId } from '#platform/ids.ts';
import type { LooseDb } from '#support/loose.ts';

/** Rows of libraries, items and files, written by SQL, as a scan would leave them. */

export interface GivenLibrary {
  id: string;
  folderId: string;
  type: string;
}

const STORAGE = '01900000-0000-7000-8000-000000000001';

export async function givenLibrary(
  db: LooseDb,
  type: string,
  more: Record<string, unknown> = {},
): Promise<GivenLibrary> {
  const id = newId();
  const folderId = newId();
  const name = `${type} ${id.slice(-6)}`;
  await db('libraries').insert({ id, name, name_folded: name, type, ...more });
  await db('library_folders').insert({ id: folderId, library_id: id, storage_id: STORAGE, path: '' });
  return { id, folderId, type };
}

export interface GivenItem {
  id?: string;
  type?: string;
  title?: string;
  sort_title?: string;
  year?: number | null;
  [column: string]: unknown;
}

const JSON_COLUMNS = ['details', 'external_ids', 'artwork', 'airs_before', 'local_artwork'];

/** Its title is its sort title, lower case, unless given. Returns its id. */
export async function givenItem(db: LooseDb, library: GivenLibrary, item: GivenItem = {}): Promise<string> {
  const id = item.id ?? newId();
  const title = item.title ?? `Title ${id.slice(-6)}`;
  const row: Record<string, unknown> = {
    library_id: library.id,
    type: 'movie',
    identity_key: id,
    title,
    sort_title: title.toLowerCase(),
    ...item,
    id,
  };
  for (const column of JSON_COLUMNS) if (row[column]) row[column] = JSON.stringify(row[column]);
  await db('items').insert(row);
  const fields = { title, ...(item.year !== null && item.year !== undefined && { year: item.year }) };
  await db('item_layers').insert({ item_id: id, source: 'file-name', fields });
  return id;
}

export interface GivenFile {
  path?: string;
  streams?: Record<string, unknown>[];
  probe?: Record<string, unknown>;
  [column: string]: unknown;
}

/** A probed file of one gigabyte and an hour, and its streams. Counts on the item. Answers its id. */
export async function givenFile(
  db: LooseDb,
  library: GivenLibrary,
  ...[itemId, file = {}]: [itemId: string, file?: GivenFile]
): Promise<string> {
  const { streams = [], path, probe, ...more } = file;
  const id = newId();
  await db('media_files').insert({
    id,
    item_id: itemId,
    library_id: library.id,
    folder_id: library.folderId,
    storage_id: STORAGE,
    path: `media/${library.id}/${path ?? `${id}.mkv`}`,
    size_bytes: 1_000_000_000,
    modified_ms: 1_700_000_000_000,
    container: 'matroska',
    duration_ms: 3_600_000,
    bitrate: 8_000_000,
    probed_at: new Date(),
    probe: JSON.stringify({ tags: {}, streams: [], chapters: [], ...probe }),
    ...more,
  });
  for (const [index, stream] of streams.entries()) {
    const { probe: probed = {}, ...columns } = stream as { probe?: Record<string, unknown> };
    await db('media_streams').insert({
      id: newId(),
      file_id: id,
      stream_index: index,
      kind: 'video',
      codec: 'h264',
      probe: JSON.stringify(probed),
      ...columns,
    });
  }
  await db('items').where({ id: itemId }).increment('file_count', 1);
  return id;
}

export async function givenTag(
  db: LooseDb,
  library: GivenLibrary,
  ...[itemId, [kind, name]]: [itemId: string, tag: [kind: string, name: string]]
): Promise<void> {
  await db('item_tags').insert({
    item_id: itemId,
    library_id: library.id,
    kind,
    name,
    name_folded: db.raw('foyer_fold(?)', [name]),
  });
}

export async function givenCredit(
  db: LooseDb,
  itemId: string,
  credit: Record<string, unknown> & { name: string },
): Promise<string> {
  const { name, personId, ...more } = credit;
  const id = typeof personId === 'string' ? personId : newId();
  await db('people')
    .insert({ id, name, name_folded: db.raw('foyer_fold(?)', [name]) })
    .onConflict('id')
    .ignore();
  await db('credits').insert({ id: newId(), item_id: itemId, person_id: id, role: 'actor', position: 0, ...more });
  return id;
}

/** The profile's state of an item. */
export async function givenState(
  db: LooseDb,
  library: GivenLibrary,
  { profileId, itemId, ...state }: { profileId: string; itemId: string; [column: string]: unknown },
): Promise<void> {
  await db('item_states')
    .insert({ profile_id: profileId, item_id: itemId, library_id: library.id, ...state })
    .onConflict(['profile_id', 'item_id'])
    .merge();
}

/** `seasons` of `episodes` each; ids by season and number, both counted from 1. */
export async function givenShow(
  db: LooseDb,
  library: GivenLibrary,
  { seasons, episodes, title = 'Show' }: { seasons: number; episodes: number; title?: string },
): Promise<{ id: string; seasons: string[]; episodes: string[][] }> {
  const id = await givenItem(db, library, { type: 'show', title, top: true });
  const seasonIds: string[] = [];
  const episodeIds: string[][] = [];
  for (let s = 1; s <= seasons; s++) {
    const season = await givenItem(db, library, {
      type: 'season',
      title: `Season ${s}`,
      parent_id: id,
      index_number: s,
    });
    seasonIds.push(season);
    const of: string[] = [];
    for (let e = 1; e <= episodes; e++) {
      const numbers = { parent_id: season, grandparent_id: id, parent_index: s, index_number: e };
      of.push(await givenItem(db, library, { type: 'episode', title: `S${s}E${e}`, ...numbers }));
    }
    episodeIds.push(of);
  }
  return { id, seasons: seasonIds, episodes: episodeIds };
}

/** Many films at once, generated by Postgres: title, year, rating, length and time of adding all differ. */
export async function givenMany(db: LooseDb, library: GivenLibrary, count: number): Promise<void> {
  await db.transaction(async (transaction) => {
    await transaction.raw('set local statement_timeout = 0');
    await transaction.raw(
      `insert into items (id, library_id, type, top, identity_key, title, sort_title, year, released_on, rating, runtime_ms,
         size_bytes, bitrate, index_number, taken_at, added_at)
       select gen_random_uuid(), ?, 'movie', true, 'many-' || n, 'Film ' || n, 'film ' || n,
         case when n % 20 > 0 then 1950 + n % 75 end,
         case when n % 20 > 0 then date '1950-01-01' + n % 27000 end,
         case when n % 7 > 0 then (n % 100) / 10.0 end, (60 + n % 120) * 60000, n::bigint * 1000003 % 50000000000, n * 17 % 9000000,
         n % 1000, timestamptz '2000-01-01' + n * interval '37 minutes', timestamptz '2020-01-01' + n * interval '1 minute'
       from generate_series(1, ?) n`,
      [library.id, count],
    );
  });
  await db.raw('analyze items');
}
