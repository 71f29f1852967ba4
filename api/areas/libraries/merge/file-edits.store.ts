import type { Db } from '#platform/db.ts';

/** Labels the edition of a file; null returns the label to the file's name, with the next scan of its folder. */
export async function setEdition(db: Db, fileId: string, edition: string | null): Promise<void> {
  await db('media_files')
    .where({ id: fileId })
    .update({ edition_locked: edition !== null, ...(edition !== null && { edition }), updated_at: new Date() });
}

/** The time at which an item came into its library; null is that of its first file. */
export async function setAddedAt(db: Db, itemId: string, at: string | null): Promise<void> {
  const first = '(select min(f.added_at) from media_files f where f.item_id = items.id)';
  await db('items')
    .where({ id: itemId })
    .update({
      added_at: at === null ? db.raw(`coalesce(${first}, added_at)`) : new Date(at),
      revision: db.raw('revision + 1'),
      change_seq: db.raw('(select l.change_seq from libraries l where l.id = items.library_id)'),
      updated_at: new Date(),
    });
}

interface Replaced {
  fileId: string;
  /** Null returns to the chapters in the file. */
  chapters: readonly { title: string; startMs: number }[] | null;
  endMs: number;
}

/** Replaces the chapters of a file by those of a person, which no scan changes. */
export async function replaceChapters(db: Db, { fileId, chapters, endMs }: Replaced): Promise<void> {
  await db('chapters').where({ file_id: fileId }).delete();
  if (chapters === null) return restoreChapters(db, fileId);
  if (chapters.length === 0) return;
  await db('chapters').insert(
    chapters.map(({ title, startMs }, number) => ({
      ...{ file_id: fileId, number, title, start_ms: startMs, source: 'person' },
      end_ms: chapters[number + 1]?.startMs ?? Math.min(endMs, Number.MAX_SAFE_INTEGER),
    })),
  );
}

async function restoreChapters(db: Db, fileId: string): Promise<void> {
  await db.raw(
    `insert into chapters (file_id, number, title, start_ms, end_ms)
     select f.id, c.at - 1, left(c.chapter ->> 'title', 500), (c.chapter ->> 'startMs')::bigint, (c.chapter ->> 'endMs')::bigint
     from media_files f, jsonb_array_elements(f.probe -> 'chapters') with ordinality c(chapter, at)
     where f.id = ? and c.at <= 1000 on conflict do nothing`,
    [fileId],
  );
}

/** Notes who uploaded an item, unless that is known. */
export async function setAddedBy(db: Db, itemId: string, accountId: string): Promise<void> {
  await db('items').where({ id: itemId }).whereNull('added_by').update({ added_by: accountId });
}
