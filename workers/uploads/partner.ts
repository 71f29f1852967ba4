// The other part of a live photo, or the photo of an XMP file.
import { kindOfName, type UploadRow } from '#areas/uploads/public.ts';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';

const HOURS = 24;

export type Partner = Pick<UploadRow, 'id' | 'name' | 'state' | 'folder_id' | 'path' | 'item_id' | 'ended_at'>;

/** The name without its extension, and without a second one such as in IMG_1.jpg.xmp. */
export function stemOf(name: string): string {
  const once = name.replace(/\.[^.]*$/, '');
  return kindOfName(name) === 'sidecar' && kindOfName(once) ? once.replace(/\.[^.]*$/, '') : once;
}

/** An upload of the same account, within 24 hours, with the same pair key or the same name without its extension. */
export async function partnerOf(db: Db, row: UploadRow): Promise<Partner | undefined> {
  const near = await rowsOf<Partner & { pair_key: string | null }>(
    db,
    `select id, name, state, folder_id, path, item_id, ended_at, pair_key from uploads
     where account_id = ? and library_id = ? and id <> ? and state not in ('cancelled', 'expired', 'failed', 'duplicate')
       and created_at between ?::timestamptz - interval '${HOURS} hours' and ?::timestamptz + interval '${HOURS} hours'
       and (pair_key = ? or starts_with(name, ?)) order by (pair_key = ?) desc nulls last, created_at desc limit 50`,
    [
      ...[row.account_id, row.library_id, row.id, row.created_at, row.created_at],
      ...[row.pair_key, `${stemOf(row.name)}.`, row.pair_key],
    ],
  );
  const kind = kindOfName(row.name);
  return near.find(
    (other) =>
      kindOfName(other.name) !== kind &&
      ((row.pair_key !== null && other.pair_key === row.pair_key) || stemOf(other.name) === stemOf(row.name)),
  );
}

/** Whether the file has to wait for its partner: an XMP file without its photo means nothing. */
export function waitsFor(row: UploadRow, partner: Partner | undefined, now: Date): boolean {
  if (kindOfName(row.name) !== 'sidecar') return false;
  if (now.getTime() - row.created_at.getTime() >= HOURS * 3_600_000) return false;
  return partner?.path == null;
}
