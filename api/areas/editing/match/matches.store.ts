// The identity of items in catalogues, and their refreshes that are due.
import type { RemotePicture } from '#platform/agents/agent.ts';
import type { Db } from '#platform/db.ts';
import { storableJson } from '#platform/storable-json.ts';
import type { Row } from '#platform/typed-query.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'item_matches.options': RefreshOptions;
    'item_matches.pictures': ChosenPicture[];
  }
}

/** Types whose ids identify their children: an episode is found by its show. */
export const identifyingTypes: readonly string[] = ['show', 'comic-series'];

export const refreshModes = ['missing', 'update', 'replace'] as const;
export const artworkModes = ['none', 'missing', 'replace'] as const;

/** What a refresh does. */
export interface RefreshOptions {
  /** Absent: sources complete each other, and persons' values stay. */
  mode?: (typeof refreshModes)[number];
  artwork?: (typeof artworkModes)[number];
  /** Identifies the item by its name again. */
  identify?: boolean;
  /** Reads the files again. */
  probe?: boolean;
  /** Only these agents, such as those that failed. */
  agents?: string[];
  by?: 'person' | 'scan' | 'refresh';
}

/** A picture that a catalogue offers and the artwork fetch takes. */
export interface ChosenPicture extends Pick<RemotePicture, 'kind' | 'url' | 'language'> {
  agent: string;
}

export type MatchRow = Row<'item_matches'>;

export async function findMatch(db: Db, itemId: string): Promise<MatchRow | undefined> {
  return db('item_matches').where({ item_id: itemId }).first();
}

/** The rows of items, by item. */
export async function findMatches(db: Db, itemIds: readonly string[]): Promise<Map<string, MatchRow>> {
  const rows = await db('item_matches').whereRaw('item_id = any(?::uuid[])', [[...itemIds]]);
  return new Map(rows.map((row) => [row.item_id, row]));
}

/** Makes refreshes due now. An item that is refreshed at the moment is refreshed again. */
export async function makeDue(db: Db, itemIds: readonly string[], options: RefreshOptions): Promise<void> {
  if (itemIds.length === 0) return;
  await db.raw(
    `insert into item_matches (item_id, library_id, due_at, options)
     select i.id, i.library_id, now(), ?::jsonb from items i where i.id = any(?::uuid[])
     on conflict (item_id) do update set due_at = now(), options = excluded.options, tries = 0,
       generation = item_matches.generation + 1`,
    [JSON.stringify(options), [...itemIds]],
  );
}

/** Makes the children of a container due, since its identity changed; refreshes that are due already stay as they are. */
export async function makeChildrenDue(db: Db, containerId: string, { by }: RefreshOptions): Promise<void> {
  await db.raw(
    `insert into item_matches (item_id, library_id, due_at, options)
     select i.id, i.library_id, now(), ?::jsonb from items i
     where (i.parent_id = ? or i.grandparent_id = ?) and i.trashed_at is null
     on conflict (item_id) do update set due_at = now(), options = excluded.options, tries = 0 where item_matches.due_at is null`,
    [JSON.stringify({ by: by ?? 'scan' }), containerId, containerId],
  );
}

/** An item to refresh, taken for a while. */
export interface Due extends Pick<MatchRow, 'item_id' | 'library_id' | 'options' | 'tries' | 'generation'> {
  /** Number of containers above it. */
  depth: number;
}

const LEASE = '10 minutes';

/** Takes items that are due, containers before their children, which are found by them. */
export async function takeDue(db: Db, libraryId: string | undefined, limit: number): Promise<Due[]> {
  const { rows } = await db.raw<{ rows: Due[] }>(
    `with due as (
       select m.item_id, (i.parent_id is not null)::int + (i.grandparent_id is not null)::int as depth
       from item_matches m join items i on i.id = m.item_id
       where m.due_at <= now() and (?::uuid is null or m.library_id = ?::uuid)
       order by 2, m.due_at, m.item_id limit ? for update of m skip locked)
     update item_matches m set due_at = now() + interval '${LEASE}' from due where m.item_id = due.item_id
     returning m.item_id, m.library_id, m.options, m.tries, m.generation, due.depth`,
    [libraryId ?? null, libraryId ?? null, limit],
  );
  return rows;
}

/** When the next refresh is due; undefined when none is. */
export async function nextRefresh(db: Db, libraryId: string | undefined): Promise<Date | undefined> {
  const { rows } = await db.raw<{ rows: { due: Date | null }[] }>(
    `select min(due_at) as due from item_matches where due_at is not null and (?::uuid is null or library_id = ?::uuid)`,
    [libraryId ?? null, libraryId ?? null],
  );
  return rows[0]?.due ?? undefined;
}

/** Hours until an item is tried again after agents failed; then the next scheduled refresh tries it. */
const RETRY_HOURS = [1, 6, 24];

/** When a refresh is due again, with its options; no hours when it is not. */
function laterOf({ tries, options }: Due, failed: readonly string[]) {
  const hours = failed.length > 0 ? RETRY_HOURS[tries] : undefined;
  if (hours === undefined) return { hours: null, tries: 0, options: {} };
  return { hours, tries: tries + 1, options: { ...options, agents: [...failed] } };
}

/**
 * Ends a refresh that wrote nothing. With agents that failed it is due again for these. A refresh that was requested
 * meanwhile stays due.
 */
export async function endRefresh(db: Db, due: Due, failed: readonly string[]): Promise<void> {
  const { hours, tries, options } = laterOf(due, failed);
  await db('item_matches')
    .where({ item_id: due.item_id, generation: due.generation })
    .update({
      due_at: db.raw('now() + make_interval(hours => ?::int)', [hours]),
      tries,
      options: JSON.stringify(options),
    });
}

/** The end of a refresh that wrote what agents gave. */
export interface Outcome {
  due: Due;
  /** Agents that did not answer. */
  failed: readonly string[];
  /** The pictures that catalogues offer now; absent keeps the known ones. */
  pictures?: readonly ChosenPicture[] | undefined;
  /** An identity that is new. */
  found?: Pick<Identified, 'agent' | 'confidence' | 'by'> | undefined;
}

const AT_END = (column: string, value: string): string =>
  `${column} = case when m.generation = r.generation then ${value} else m.${column} end`;
const IF_FOUND = (column: string, value: string): string =>
  `${column} = case when r.found then ${value} else m.${column} end`;

/** Ends refreshes like `endRefresh`, with their pictures and new identities: one write of each row. */
export async function endRefreshes(db: Db, outcomes: readonly Outcome[]): Promise<void> {
  const rows = outcomes.map(({ due, failed, pictures, found }) => ({
    ...{ item_id: due.item_id, library_id: due.library_id, generation: due.generation, pictures },
    ...{ found: found !== undefined, agent: found?.agent, confidence: found?.confidence, by: found?.by },
    ...laterOf(due, failed),
  }));
  const text = storableJson(rows);
  await db.raw(
    `insert into item_matches (item_id, library_id) select r.item_id, r.library_id
     from jsonb_to_recordset(?::jsonb) as r(item_id uuid, library_id uuid) order by r.item_id on conflict do nothing`,
    [text],
  );
  await db.raw(
    `update item_matches m set refreshed_at = now(), pictures = coalesce(r.pictures, m.pictures),
       ${IF_FOUND('state', `'matched'`)}, ${IF_FOUND('agent', 'r.agent')}, ${IF_FOUND('confidence', 'r.confidence')},
       ${IF_FOUND('matched_by', 'r.by')}, ${IF_FOUND('matched_at', 'now()')},
       ${AT_END('due_at', 'now() + make_interval(hours => r.hours)')}, ${AT_END('tries', 'r.tries')}, ${AT_END('options', 'r.options')}
     from jsonb_to_recordset(?::jsonb) as r(item_id uuid, generation int, pictures jsonb, found boolean, agent text,
       confidence real, by text, hours int, tries int, options jsonb) where m.item_id = r.item_id`,
    [text],
  );
}

export interface Identified {
  itemId: string;
  libraryId: string;
  state: MatchRow['state'];
  agent: string | null;
  confidence: number | null;
  by: NonNullable<MatchRow['matched_by']> | null;
}

/** Records the identity of an item; one that a person chose is recorded by `by`. */
export async function recordMatch(db: Db, match: Identified): Promise<void> {
  const { itemId, libraryId, state, agent, confidence, by } = match;
  const row = {
    ...{ state, agent, confidence, matched_by: by },
    matched_at: state === 'matched' ? db.raw('now()') : null,
  };
  await db('item_matches')
    .insert({ item_id: itemId, library_id: libraryId, ...row })
    .onConflict('item_id')
    .merge(row);
}

/** Notes that an item was refreshed, with the pictures that catalogues offer for it now. */
export async function noteRefreshed(
  db: Db,
  item: { itemId: string; libraryId: string },
  pictures: readonly ChosenPicture[] | undefined,
): Promise<void> {
  const now = { refreshed_at: db.raw('now()'), ...(pictures && { pictures: JSON.stringify(pictures) }) };
  await db('item_matches')
    .insert({ item_id: item.itemId, library_id: item.libraryId, ...now })
    .onConflict('item_id')
    .merge(now);
}

const STALE = '30 days';

/** Makes matched items due that were not refreshed for long, the oldest first. Returns how many. */
export async function makeStaleDue(db: Db, most: number): Promise<number> {
  const { rows } = await db.raw<{ rows: { item_id: string }[] }>(
    `update item_matches m set due_at = now(), options = '{"by":"refresh"}', tries = 0 where m.item_id in (
       select item_id from item_matches where state = 'matched' and due_at is null and refreshed_at < now() - interval '${STALE}'
       order by refreshed_at limit ?) returning m.item_id`,
    [most],
  );
  return rows.length;
}

/** The item with everything that lies in it, each container first. */
export async function withChildren(db: Db, itemIds: readonly string[]): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `with recursive below as (
       select id, 0 as depth from items where id = any(?::uuid[]) and trashed_at is null
       union all select i.id, b.depth + 1 from items i join below b on i.parent_id = b.id
       where i.trashed_at is null and b.depth < 8)
     select id from below group by id order by min(depth), id`,
    [[...itemIds]],
  );
  return rows.map(({ id }) => id);
}
