import { endAnalysesOf, saveFound } from '#areas/libraries/public.ts';
import { openMedia } from '#areas/storage/public.ts';
import type { Db } from '#platform/db.ts';
import type { JobPayload } from '#platform/jobs.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Work } from '../../work.ts';
import { type AnalysedFile, eachFile, type Finding } from '../each-file.ts';
import { type Episode, openingsOf } from './season.ts';
import { printBytes, printOf, SOUND_VERSION, type Sound, soundOf } from './sound.ts';

/** Of one season; more are not compared. */
const MOST_FILES = 1000;

/** Finds the openings of the seasons of files that wait for it. */
export function findIntros({ libraryId }: JobPayload<'analysis.intros'>, work: Work): Promise<object> {
  return eachFile(work, { name: 'introDetection', libraryId, each: (file) => introsAround(file, work) });
}

/**
 * Listens to each episode of the season that was not heard yet, each stored by itself, and then compares all of them:
 * an episode that is added later can show that a sound of the first one is an opening.
 */
async function introsAround(source: AnalysedFile, work: Work): Promise<Finding> {
  const files = await seasonOf(work.db, source.itemId);
  const episodes: Episode[] = [];
  for (const file of files) {
    const sound = (await storedSound(work.db, file)) ?? (await listen(work, file));
    if (sound) episodes.push({ itemId: file.item_id, fileId: file.id, sound });
  }
  const openings = openingsOf(episodes);
  const heard = episodes.map(({ fileId }) => fileId);
  return {
    state: openings.has(source.id) ? 'done' : 'not-found',
    save: async (db) => {
      for (const { fileId, itemId } of episodes)
        await saveFound(db, { fileId, itemId }, { kind: 'intro', found: openings.get(fileId) });
      await endAnalysesOf(db, 'introDetection', { done: [...openings.keys()], all: heard });
    },
  };
}

const COLUMNS = [
  ...(['id', 'item_id', 'storage_id', 'folder_id', 'path', 'size_bytes', 'modified_ms', 'probe'] as const),
];
type SeasonFile = Pick<Row<'media_files'>, (typeof COLUMNS)[number]>;

/** Present files of the episodes of the same season, in its order. */
async function seasonOf(db: Db, itemId: string): Promise<SeasonFile[]> {
  return db('media_files as f')
    .join('items as i', 'i.id', 'f.item_id')
    .join('items as m', (on) => on.on('m.id', '=', db.raw('?', [itemId])))
    .whereRaw(
      `(i.id = m.id or i.parent_id = m.parent_id) and i.type = m.type and i.extra_of is null and i.trashed_at is null
       and f.missing_since is null and not f.ignored`,
    )
    .orderByRaw('i.index_number nulls last, i.id, f.edition_rank, f.part, f.id')
    .limit(MOST_FILES)
    .select(COLUMNS.map((column) => `f.${column}`)) as unknown as Promise<SeasonFile[]>;
}

async function storedSound(db: Db, { id, size_bytes, modified_ms }: SeasonFile): Promise<Sound | undefined> {
  const row = await db('intro_sounds')
    .where({ file_id: id, version: SOUND_VERSION, size_bytes, modified_ms })
    .first('print', 'loudness');
  return row && { print: printOf(row.print), loudness: row.loudness };
}

/** Reads the file and stores its sound: the checkpoint of this file. Undefined for one that cannot be read now. */
async function listen(work: Work, file: SeasonFile): Promise<Sound | undefined> {
  const { id: file_id, size_bytes, modified_ms, probe } = file;
  const { storage_id: storageId, folder_id: folderId, path } = file;
  if (!probe) return undefined;
  const wanted = { storageId, folderId, path, sizeBytes: size_bytes, modifiedMs: modified_ms };
  const place = await openMedia(work, wanted);
  const sound = place.kind === 'there' ? await soundOf(place.absolute, probe, work.signal) : undefined;
  if (sound) {
    const { print, loudness } = { print: printBytes(sound.print), loudness: Buffer.from(sound.loudness) };
    await work
      .db('intro_sounds')
      .insert({ file_id, version: SOUND_VERSION, size_bytes, modified_ms, print, loudness })
      .onConflict('file_id')
      .merge()
      .whereRaw('excluded.version >= intro_sounds.version'); // a pod of a newer version may have stored its own
  }
  await work.keep(work.db, { heard: file_id });
  work.signal.throwIfAborted();
  return sound;
}
