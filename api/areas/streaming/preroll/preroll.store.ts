import { invalid } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { Row } from '#platform/typed-query.ts';
import type { PrerollClipDraft, PrerollSettings } from '../streaming.schemas.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'preroll_clips.season': { from: string; to: string };
  }
}

export type PrerollRow = Row<'preroll_clips'>;

const TABLE = 'preroll_clips';
const LONGEST_MS = 300_000;

/** Key of the prepared clip in the bucket `foyer-derived`. */
export const prerollKey = (id: string): string => `preroll/${id}.mp4`;

export async function findClips(db: Db): Promise<PrerollRow[]> {
  return db(TABLE).orderBy('position').select('*');
}

export async function findClip(db: Db, id: string): Promise<PrerollRow | undefined> {
  return db(TABLE).where({ id }).first();
}

export function toClips(rows: readonly PrerollRow[]): PrerollSettings['clips'] {
  return rows.map((row) => ({
    id: row.id,
    itemId: row.item_id,
    title: row.title,
    durationMs: row.duration_ms,
    weight: row.weight,
    season: row.season,
    libraryIds: row.library_ids,
    ageRating: row.age_rating,
    state: row.state,
    error: row.error,
  }));
}

/** Makes clips of items those of the items that they become part of. */
export async function moveClips(db: Db, pairs: readonly { from: string; into: string }[]): Promise<void> {
  await db.raw(
    `update preroll_clips c set item_id = r.into from jsonb_to_recordset(?::jsonb) as r("from" uuid, "into" uuid) where c.item_id = r.from`,
    [JSON.stringify(pairs)],
  );
}

type ClipSource = Pick<Row<'items'>, 'id' | 'title' | 'type' | 'runtime_ms' | 'age_rating'>;

/** Replaces the list. Remaining clips keep their prepared file. Returns the ids of clips to prepare. */
export async function replaceClips(db: Db, drafts: readonly PrerollClipDraft[]): Promise<string[]> {
  const known = new Map((await findClips(db)).map((row) => [row.id, row]));
  const items = await clipItems(db, drafts);
  const rows = drafts.map((draft, position) => {
    const before = draft.id === undefined ? undefined : known.get(draft.id);
    return rowOf(draft, { position, before, item: items.get(draft.itemId) as ClipSource });
  });
  await db(TABLE)
    .whereNotIn(
      'id',
      rows.map((row) => row.id),
    )
    .delete();
  if (rows.length > 0) await db(TABLE).insert(rows).onConflict('id').merge();
  return rows.filter((row) => row.state === 'preparing').map((row) => row.id);
}

interface Around {
  position: number;
  before: PrerollRow | undefined;
  item: ClipSource;
}

/** A clip of the same video keeps its prepared file; a failed one is prepared again. */
function rowOf(draft: PrerollClipDraft, { position, before, item }: Around) {
  const kept = before?.item_id === draft.itemId && before.state !== 'failed';
  return {
    id: before?.id ?? newId(),
    position,
    item_id: draft.itemId,
    title: item.title,
    duration_ms: item.runtime_ms ?? 0,
    weight: draft.weight,
    season: draft.season ? JSON.stringify(draft.season) : null,
    library_ids: draft.libraryIds,
    age_rating: draft.ageRating ?? item.age_rating,
    state: kept ? before.state : ('preparing' as const),
    error: null,
  };
}

/** Throws 400 for each clip that is no video of at most 5 minutes. */
async function clipItems(db: Db, drafts: readonly PrerollClipDraft[]): Promise<Map<string, ClipSource>> {
  const rows = await db('items')
    .whereIn(
      'id',
      drafts.map((draft) => draft.itemId),
    )
    .whereNull('trashed_at')
    .select('id', 'title', 'type', 'runtime_ms', 'age_rating');
  const items = new Map(rows.map((row) => [row.id, row]));
  for (const [i, draft] of drafts.entries()) {
    const item = items.get(draft.itemId);
    const path = ['body', 'clips', i, 'itemId'];
    if (!item || !['video', 'movie', 'episode'].includes(item.type))
      throw invalid(path, 'not_a_video', 'no such video');
    if ((item.runtime_ms ?? 0) > LONGEST_MS) throw invalid(path, 'too_long', 'a clip lasts 5 minutes at most');
  }
  return items;
}

/** The result of job `preroll.prepare`. */
export async function finishClip(
  db: Db,
  id: string,
  outcome: { state: 'ready'; durationMs: number } | { state: 'failed'; error: string },
): Promise<void> {
  const made = outcome.state === 'ready' ? { duration_ms: outcome.durationMs, error: null } : { error: outcome.error };
  await db(TABLE)
    .where({ id })
    .update({ state: outcome.state, ...made });
}

/** Fails clips whose job ended without a result or is gone. */
export async function settleClips(db: Db): Promise<void> {
  await db.raw(`update preroll_clips c set state = 'failed', error = 'not-made' where state = 'preparing'
    and not exists (select from jobs j where j.kind = 'preroll.prepare' and j.payload ->> 'clipId' = c.id::text
      and j.state in ('waiting', 'delayed', 'active'))`);
}
