// An item as the agents need it, with the settings of its library.
import type { Identity, Wanted } from '#platform/agents/agent.ts';
import { known } from '#platform/agents/parts.ts';
import type { Db } from '#platform/db.ts';
import type { Settings } from '#platform/settings.ts';
import type { LibrarySettings } from '../libraries.schemas.ts';
import { agentsByDefault, settingsOf } from '../settings.ts';

interface ItemRow {
  id: string;
  library_id: string;
  type: string;
  title: string;
  original_title: string | null;
  year: number | null;
  runtime_ms: number | null;
  index_number: number | null;
  parent_index: number | null;
  external_ids: Record<string, string>;
  details: Record<string, unknown>;
  parent_type: string | null;
  parent_ids: Record<string, string> | null;
  parent_title: string | null;
  top_type: string | null;
  top_ids: Record<string, string> | null;
  all_locked: boolean;
  ids_locked: boolean;
  closed: boolean;
  seasons: number;
  children: number;
  library_type: string;
  settings: Partial<LibrarySettings>;
}

/** An item, and how its library refreshes it. */
export interface RefreshedItem {
  id: string;
  libraryId: string;
  type: string;
  title: string;
  settings: LibrarySettings;
  /** Ids of agents, in order. */
  agents: readonly string[];
  wanted: Wanted;
  /** Types that are found by the container that they lie in are never identified by themselves. */
  byContainer: boolean;
  /** Keeps its pictures, and the identity of its children. */
  allLocked: boolean;
  /** A person locked its ids in catalogues. */
  idsLocked: boolean;
  /** It is in a container that is locked as a whole, and is not described. */
  closed: boolean;
}

/** Language and country of the server. */
export const placeOf = (settings: Settings): { language: string; country: string | null } => ({
  language: settings.get('metadata.language') ?? settings.get('server.language'),
  country: settings.get('server.country'),
});

interface Server {
  db: Db;
  settings: Settings;
}

/** Undefined for an item that is gone or in the trash. */
export async function refreshedItem(server: Server, id: string): Promise<RefreshedItem | undefined> {
  return (await refreshedItems(server, [id])).get(id);
}

/** By id, without items that are gone or in the trash. */
export async function refreshedItems(server: Server, ids: readonly string[]): Promise<Map<string, RefreshedItem>> {
  const { db } = server;
  const { rows } = await db.raw<{ rows: ItemRow[] }>(
    `select i.id, i.library_id, i.type, i.title, i.original_title, i.year, i.runtime_ms, i.index_number, i.parent_index,
       i.external_ids, i.details, p.type as parent_type, p.external_ids as parent_ids, p.title as parent_title,
       g.type as top_type, g.external_ids as top_ids, 'all' = any(i.locked_fields) as all_locked,
       i.locked_fields && '{all,externalIds}' as ids_locked,
       coalesce('all' = any(p.locked_fields), false) or coalesce('all' = any(g.locked_fields), false) as closed,
       (select count(*)::int from items c where c.parent_id = i.id and c.trashed_at is null and c.type = 'season') as seasons,
       (select count(*)::int from items c where c.parent_id = i.id and c.trashed_at is null) as children,
       l.type as library_type, l.settings
     from items i join libraries l on l.id = i.library_id
       left join items p on p.id = i.parent_id left join items g on g.id = i.grandparent_id
     where i.id = any(?::uuid[]) and i.trashed_at is null and l.deleted_at is null`,
    [[...ids]],
  );
  const place = placeOf(server.settings);
  return new Map(rows.map((row) => [row.id, toRefreshed(row, place)]));
}

function toRefreshed(row: ItemRow, place: ReturnType<typeof placeOf>): RefreshedItem {
  const settings = settingsOf({ type: row.library_type, settings: row.settings }, place);
  return {
    ...{ id: row.id, libraryId: row.library_id, type: row.type, title: row.title, settings },
    agents: row.settings.agents ?? agentsByDefault(row.library_type, () => true),
    wanted: wantedOf(row, settings),
    byContainer: containerOf(row) !== undefined,
    ...{ allLocked: row.all_locked, idsLocked: row.ids_locked, closed: row.closed },
  };
}

/** The ids of the container by which the item is found. */
function containerOf(row: ItemRow): Record<string, string> | undefined {
  if (row.type === 'season') return row.parent_ids ?? {};
  if (row.type === 'episode') return (row.top_type === 'show' ? row.top_ids : row.parent_ids) ?? {};
  if (row.type === 'comic' && row.parent_type === 'comic-series') return row.parent_ids ?? {};
  return undefined;
}

const namesIn = (list: unknown): string[] =>
  Array.isArray(list)
    ? list.flatMap((one: { name?: unknown }) => (typeof one?.name === 'string' ? [one.name] : []))
    : [];

function wantedOf(row: ItemRow, { language, country }: LibrarySettings): Wanted {
  const { type, details } = row;
  const isbn = details['isbn'];
  return known<Wanted>({
    ...{ type, title: row.title, ids: containerOf(row) ?? row.external_ids, language },
    country: country ?? undefined,
    originalTitle: row.original_title ?? undefined,
    year: row.year ?? undefined,
    runtimeMs: type === 'movie' ? (row.runtime_ms ?? undefined) : undefined,
    by: makersOf(row),
    index: row.index_number ?? undefined,
    parentIndex: row.parent_index ?? undefined,
    isbn: typeof isbn === 'string' ? isbn : undefined,
    childCounts: countsOf(row),
  });
}

/** Artists of an album, authors of a book; else the container that is named after them. */
function makersOf({ type, details, parent_title: above }: ItemRow): string[] {
  const own = [...namesIn(details['artists']), ...namesIn(details['authors'])];
  return own.length === 0 && above !== null && ['album', 'book', 'audiobook'].includes(type) ? [above] : own;
}

function countsOf({ type, seasons, children }: ItemRow): Wanted['childCounts'] {
  if (type === 'show') return { seasons };
  return type === 'album' ? { tracks: children } : undefined;
}

/** The identity under which agents describe the item. */
export function identityOf({ wanted }: RefreshedItem, ids: Readonly<Record<string, string>>): Identity {
  const { type, language, country, index, parentIndex } = wanted;
  return known<Identity>({ type, ids, language, country, index, parentIndex });
}
