import { conflict } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';

interface Numbered {
  id: string;
  library_id: string;
  grandparent_id: string | null;
  parent_id: string | null;
  parent_index: number | null;
  index_number: number | null;
}

/**
 * Puts an episode into the season that its number names, making the season when it is absent. Throws 409 `number-taken`
 * with details.itemId when another episode of the show has the number. Returns the season that it left, if it moved.
 */
export async function placeEpisode(db: Db, id: string): Promise<string | undefined> {
  const episode: Numbered | undefined = await db('items')
    .where({ id, type: 'episode' })
    .first('id', 'library_id', 'grandparent_id', 'parent_id', 'parent_index', 'index_number');
  if (!episode || episode.grandparent_id === null || episode.parent_index === null) return undefined;
  await refuseTaken(db, episode);
  const season = await seasonOf(db, episode);
  if (season === episode.parent_id) return undefined;
  await db('items').where({ id }).update({ parent_id: season });
  return episode.parent_id ?? undefined;
}

async function refuseTaken(db: Db, { id, grandparent_id: show, parent_index: season, index_number: number }: Numbered) {
  if (number === null) return;
  const other = await db('items')
    .where({ grandparent_id: show, type: 'episode', parent_index: season, index_number: number })
    .whereNull('trashed_at')
    .whereNot({ id })
    .first('id');
  if (other) throw conflict('number-taken', 'Another episode has this number', { itemId: other.id });
}

async function seasonOf(
  db: Db,
  { library_id: libraryId, grandparent_id: show, parent_index: number }: Numbered,
): Promise<string> {
  const known = await db('items').where({ parent_id: show, type: 'season', index_number: number }).first('id');
  if (known) return known.id;
  const owner = await db('items').where({ id: show }).first('identity_key');
  const id = newId();
  const title = number === 0 ? 'Specials' : `Season ${number}`;
  const seq = await db('libraries').where({ id: libraryId }).first('change_seq');
  await db('items').insert({
    ...{
      id,
      library_id: libraryId,
      type: 'season',
      parent_id: show,
      identity_key: `${owner?.identity_key}/s${number}`,
    },
    ...{ title, sort_title: title.toLowerCase(), index_number: number, change_seq: seq?.change_seq ?? 0 },
  });
  await db('item_layers').insert({ item_id: id, source: 'file-name', fields: { title, index: number } });
  return id;
}
