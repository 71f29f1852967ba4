import type { Principal } from '#identity/principal.ts';
import { visibleItemIds } from '#identity/visibility.ts';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';

/**
 * Items of a library that hold exactly these bytes, by hash in hex: those that were uploaded, and those whose content was
 * fingerprinted. Items in the trash count, because a duplicate restores them.
 */
export async function itemsOfHashes(
  db: Db,
  libraryId: string,
  hashes: readonly string[],
): Promise<Map<string, string[]>> {
  if (hashes.length === 0) return new Map();
  const rows = await rowsOf<{ sha256: string; item_id: string }>(
    db,
    `select distinct x.sha256, x.item_id from (
       select u.sha256, u.item_id from uploads u join media_files f on f.folder_id = u.folder_id and f.path = u.path
       where u.library_id = ? and u.sha256 = any(?) and u.item_id is not null and f.size_bytes = u.size_bytes
         and f.modified_ms <= extract(epoch from u.ended_at) * 1000
       union all
       select encode(p.content, 'hex'), m.item_id from fingerprints p join media_files m on m.id = p.file_id
       where p.kind = 'content' and p.content = any(select decode(h, 'hex') from unnest(?::text[]) h)
         and p.size_bytes = m.size_bytes and p.modified_ms = m.modified_ms
     ) x join items i on i.id = x.item_id
     where i.library_id = ? and exists (select 1 from media_files f where f.item_id = i.id and f.missing_since is null)
     order by x.item_id`,
    [libraryId, [...hashes], [...hashes], libraryId],
  );
  const found = new Map<string, string[]>();
  for (const { sha256, item_id: id } of rows) found.set(sha256, [...(found.get(sha256) ?? []), id]);
  return found;
}

/** One item for each hash, among those that the caller may see; a hidden one is not revealed. */
export async function visibleDuplicates(
  db: Db,
  { who, libraryId, hashes }: { who: Principal; libraryId: string; hashes: readonly string[] },
): Promise<Map<string, string>> {
  const found = await itemsOfHashes(db, libraryId, hashes);
  const visible = new Set(await visibleItemIds(db, who, [...found.values()].flat()));
  const shown = [...found].flatMap(([hash, ids]) => {
    const id = ids.find((one) => visible.has(one));
    return id ? [[hash, id] as const] : [];
  });
  return new Map(shown);
}
