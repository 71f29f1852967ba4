import { createHash } from 'node:crypto';
import type { Call } from '#kernel/endpoint.ts';
import { knowsEtag } from '#kernel/etag.ts';
import { named } from '#platform/db.ts';
import { THERE } from '../kinds.ts';

/** Version of a list: the changes of its libraries, of the caller's rights and of the profile's own state. */
export interface ListVersion {
  seq: string | null;
  access: number | null;
  state: string | null;
  /** Unreadable storages, whose items are shown as unavailable. */
  unavailable: string | null;
}

/** ListVersion as JSON. `seq` is SQL; account and profile are parameters. */
export const versionSql = (seq: string, [account, profile]: [account: string, profile: string]): string =>
  `json_build_object('seq', ${seq}, 'access', (select a.access_version from accounts a where a.id = ${account}::uuid),
    'state', (select max(s.updated_at)::text from item_states s where s.profile_id = ${profile}::uuid),
    'unavailable', (select string_agg(st.id::text, ',' order by st.id)
      from storages st where not (${THERE})))`;

const seqOfMany = `(select string_agg(l.id || ':' || l.change_seq || ':' || l.revision, ',' order by l.id) from libraries l
  where l.id = any($1::uuid[]) and l.deleted_at is null)`;

/**
 * Compares the version of a list by libraries and the caller's state, without reading an item. Sets ETag and `private,
 * no-cache`; true (status 304) when the client has this version.
 */
export async function unchanged(
  call: Call,
  about: { libraryIds: readonly string[]; more?: string; revision?: number },
): Promise<boolean> {
  const { db, who } = call;
  const [row] = await named<{ version: ListVersion }>(db, {
    name: 'list-version',
    short: true,
    text: `select ${versionSql(seqOfMany, ['$2', '$3'])} as version`,
    values: [[...about.libraryIds], who.accountId || null, who.profileId || null],
  });
  return isKnown(call, row?.version, about);
}

/** As `unchanged`, for a version that is already read. */
export function isKnown(
  { who, headers, reply }: Call,
  version: ListVersion | undefined,
  about: { more?: string; revision?: number },
): boolean {
  const parts = [
    version?.seq,
    version?.access,
    version?.state,
    version?.unavailable,
    [...who.permissions].sort().join(),
    who.profileId,
    about.more,
  ];
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22);
  const tag = `"${about.revision === undefined ? '' : `${about.revision}.`}${hash}"`;
  reply.header('ETag', tag);
  reply.header('Cache-Control', 'private, no-cache');
  const same = knowsEtag(headers['if-none-match'], tag);
  if (same) reply.status(304);
  return same;
}

/** Return value of a handler for 304: the pipeline sends no body. */
export const NOTHING = undefined as never;
