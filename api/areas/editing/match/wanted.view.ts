import type { VisibleItem } from '#areas/items/public.ts';
import { settingsOf } from '#areas/libraries/public.ts';
import type { Wanted } from '#platform/agents/agent.ts';
import type { Db } from '#platform/db.ts';

interface Row {
  type: string;
  title: string;
  original_title: string | null;
  year: number | null;
  runtime_ms: number | null;
  external_ids: Record<string, string>;
  details: Record<string, unknown>;
  parent: string | null;
  children: number;
  library_type: string;
  settings: Record<string, unknown>;
}

const namesIn = (list: unknown): string[] =>
  Array.isArray(list) ? list.flatMap(({ name }: { name?: unknown }) => (typeof name === 'string' ? [name] : [])) : [];

/** An item as catalogues are searched for it. */
export async function wantedOf(db: Db, id: string, language: string | undefined): Promise<Wanted> {
  const { rows } = await db.raw<{ rows: [Row] }>(
    `select i.type, i.title, i.original_title, i.year, i.runtime_ms, i.external_ids, i.details, p.title as parent,
       (select count(*)::int from items c where c.parent_id = i.id and c.trashed_at is null) as children,
       l.type as library_type, l.settings
     from items i join libraries l on l.id = i.library_id left join items p on p.id = i.parent_id where i.id = ?`,
    [id],
  );
  const [row] = rows;
  const { type, details } = row;
  const settings = settingsOf({ type: row.library_type, settings: row.settings }, { language: 'en', country: null });
  const by = [...namesIn(details['artists']), ...namesIn(details['authors'])];
  const isbn = details['isbn'];
  return {
    ...{ type, title: row.title, ids: row.external_ids, language: language ?? settings.language },
    ...(row.original_title !== null && { originalTitle: row.original_title }),
    ...(row.year !== null && { year: row.year }),
    ...(row.runtime_ms !== null && type === 'movie' && { runtimeMs: row.runtime_ms }),
    ...(by.length > 0 ? { by } : row.parent !== null && ['album', 'book'].includes(type) ? { by: [row.parent] } : {}),
    ...(typeof isbn === 'string' && { isbn }),
    ...(type === 'show' && { childCounts: { seasons: row.children } }),
    ...(type === 'album' && { childCounts: { tracks: row.children } }),
  };
}

/** For each set of ids another item of the library and type that has one of them. */
export async function findSame(
  db: Db,
  { id, libraryId, type }: Pick<VisibleItem, 'id' | 'libraryId' | 'type'>,
  all: readonly Readonly<Record<string, string>>[],
): Promise<(string | undefined)[]> {
  const sets = all.map((ids) => Object.entries(ids).map(([provider, value]) => ({ [provider]: value })));
  const { rows } = await db.raw<{ rows: { id: string; external_ids: Record<string, string> }[] }>(
    `select i.id, i.external_ids from items i where i.library_id = ? and i.type = ? and i.id <> ? and i.trashed_at is null
       and i.external_ids @> any(?::jsonb[]) limit 500`,
    [libraryId, type, id, sets.flat().map((one) => JSON.stringify(one))],
  );
  return all.map(
    (ids) => rows.find((row) => Object.entries(ids).some(([name, value]) => row.external_ids[name] === value))?.id,
  );
}
