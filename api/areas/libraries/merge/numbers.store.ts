import { conflict } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { addToLibraries, measure, rollUpItems, withParents } from '../rollup.store.ts';

interface Numbered {
  id: string;
  library_id: string;
  grandparent_id: string | null;
  parent_id: string | null;
  parent_index: number | null;
  index_number: number | null;
}

/**
 * Puts an episode into the season that its number names, making the season when it is absent and taking it out of the
 * trash. Throws 409 `number-taken` with details.itemId when another episode of the show has the number.
 */
export async function placeEpisode(db: Db, id: string): Promise<void> {
  const episode: Numbered | undefined = await db('items')
    .where({ id, type: 'episode' })
    .first('id', 'library_id', 'grandparent_id', 'parent_id', 'parent_index', 'index_number');
  if (!episode || episode.grandparent_id === null || episode.parent_index === null) return;
  await refuseTaken(db, episode);
  const known = await db('items')
    .where({ parent_id: episode.grandparent_id, type: 'season', index_number: episode.parent_index })
    .first('id');
  if (known && known.id === episode.parent_id) return;
  const former = episode.parent_id === null ? [] : [episode.parent_id];
  const touched = [...(await withParents(db, [id])), ...(known ? [known.id] : [])];
  const before = await measure(db, touched);
  const season = known?.id ?? (await makeSeason(db, episode));
  await db('items').where({ id: season }).update({ trashed_at: null, trash_reason: null, trashed_by: null });
  await db('items').where({ id }).update({ parent_id: season });
  await rollUpItems(db, [id], former);
  await addToLibraries(db, before, await measure(db, [...new Set([...touched, season])]));
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

async function makeSeason(
  db: Db,
  { library_id: libraryId, grandparent_id: show, parent_index: number }: Numbered,
): Promise<string> {
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
