import { createHash } from 'node:crypto';
import type { Call } from '#kernel/endpoint.ts';

interface VersionRow {
  seq: string | null;
  access: number | null;
  state: string | null;
}

/**
 * Answers the version of a list by libraries and the caller's own state, without reading an item: sets ETag and
 * `private, no-cache`, and is true (status 304) when the caller has that version already.
 */
export async function unchanged(
  call: Call,
  about: { libraryIds: readonly string[]; more?: string; revision?: number },
): Promise<boolean> {
  const { db, who, headers, reply } = call;
  const row = await db
    .queryBuilder()
    .select<VersionRow[]>(
      db.raw(
        `(select string_agg(l.id || ':' || l.change_seq || ':' || l.revision, ',' order by l.id) from libraries l
            where l.id = any(?::uuid[]) and l.deleted_at is null) as seq,
         (select a.access_version from accounts a where a.id = ?::uuid) as access,
         (select max(s.updated_at)::text from item_states s where s.profile_id = ?::uuid) as state`,
        [[...about.libraryIds], who.accountId || null, who.profileId || null],
      ),
    )
    .first();
  const parts = [row?.seq, row?.access, row?.state, [...who.permissions].sort().join(), who.profileId, about.more];
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22);
  const tag = `"${about.revision === undefined ? '' : `${about.revision}.`}${hash}"`;
  reply.header('ETag', tag);
  reply.header('Cache-Control', 'private, no-cache');
  const known = String(headers['if-none-match'] ?? '').split(/\s*,\s*/);
  const same = known.some((one) => one.replace(/^W\//, '') === tag);
  if (same) reply.status(304);
  return same;
}

/** What a handler returns with 304: the pipeline sends no body. */
export const NOTHING = undefined as never;
