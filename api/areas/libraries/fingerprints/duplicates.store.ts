import type { Principal } from '#identity/principal.ts';
import { onlyVisibleItems } from '#identity/visibility.ts';
import type { Db } from '#platform/db.ts';
import type { Link } from './groups.ts';

/** Pairs that are looked at for one answer. */
const MOST_LINKS = 200_000;

interface Where {
  libraryId: string;
  /** At least one file of a group is in the library; otherwise all are. */
  across: boolean;
}

/** Present files with equal bytes, each linked with the first. */
export async function exactLinks(db: Db, { libraryId, across }: Where): Promise<Link[]> {
  const { rows } = await db.raw<{ rows: { files: string[] }[] }>(
    `select array_agg(m.id order by m.id) as files from fingerprints p join media_files m on m.id = p.file_id
     where p.kind = 'content' and p.content is not null and m.missing_since is null and not m.ignored
       and (p.size_bytes, p.modified_ms) = (m.size_bytes, m.modified_ms) and (?::bool or m.library_id = ?)
     group by p.content having count(*) > 1 and bool_or(m.library_id = ?) limit ${MOST_LINKS}`,
    [across, libraryId, libraryId],
  );
  return rows.flatMap(({ files: [first = '', ...others] }) =>
    others.map((other) => ({ one: first, other, distance: 0 })),
  );
}

/** Present files whose fingerprints differ in at most so many bits. */
export async function nearLinks(
  db: Db,
  { libraryId, across }: Where,
  { kind, distance }: { kind: string; distance: number },
): Promise<Link[]> {
  const { rows } = await db.raw<{ rows: Link[] }>(
    `select n.one, n.other, n.distance from near_files n
     join media_files a on a.id = n.one join media_files b on b.id = n.other
     where n.kind = ? and n.distance <= ? and a.missing_since is null and b.missing_since is null
       and not a.ignored and not b.ignored and a.item_id <> b.item_id
       and case when ?::bool then ?::uuid in (a.library_id, b.library_id)
         else a.library_id = ?::uuid and b.library_id = ?::uuid end
     limit ${MOST_LINKS}`,
    [kind, distance, across, libraryId, libraryId, libraryId],
  );
  return rows;
}

export interface Member {
  fileId: string;
  itemId: string;
  sizeBytes: number;
  durationMs: number | null;
  bitrate: number | null;
  width: number | null;
  height: number | null;
  codec: string | null;
  addedAt: Date;
}

/** The files whose items the caller may see, by id; extras and trashed items are none. */
export async function membersOf(db: Db, who: Principal, fileIds: readonly string[]): Promise<Map<string, Member>> {
  const rows = (await db
    .from('items as i')
    .modify(onlyVisibleItems, who, 'i')
    .join('media_files as m', 'm.item_id', 'i.id')
    .whereNull('i.extra_of')
    .whereNull('i.trashed_at')
    .whereRaw('m.id = any(?::uuid[])', [[...fileIds]])
    .select(
      db.raw(`m.id as "fileId", m.item_id as "itemId", m.size_bytes as "sizeBytes", m.duration_ms as "durationMs",
        m.bitrate, m.added_at as "addedAt", v.width, v.height, coalesce(v.codec, s.codec) as codec`),
    )
    .joinRaw(
      `left join lateral (select t.codec, (t.probe ->> 'width')::int as width, (t.probe ->> 'height')::int as height
         from media_streams t where t.file_id = m.id and t.kind = 'video' order by t.stream_index limit 1) v on true
       left join lateral (select t.codec from media_streams t where t.file_id = m.id and t.kind = 'audio'
         order by t.stream_index limit 1) s on true`,
    )) as unknown as Member[];
  return new Map(rows.map((row) => [row.fileId, row]));
}
