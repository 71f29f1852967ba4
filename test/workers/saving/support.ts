// A library whose values and pictures are written next to its media, by the real jobs.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Person } from '#support/given.ts';
import { saveMetadata } from '#workers/saving/save.ts';
import { Postponed } from '#workers/work.ts';
import { newPicturedPlace, type PicturedPlace } from '../artwork/support.ts';

export interface SavingPlace extends PicturedPlace {
  editor: Person;
  /** Writes what waits, as if its time had come. */
  save(): Promise<Record<string, number>>;
  idOf(title: string): Promise<string>;
  edit(title: string, body: object): Promise<void>;
  text(name: string): Promise<string>;
  /** Names in a directory of the library, without media. */
  filesIn(directory: string): Promise<string[]>;
  layers(title: string): Promise<string[]>;
}

export async function newSavingPlace(type: string, settings: Record<string, unknown>): Promise<SavingPlace> {
  const place = await newPicturedPlace(type);
  const { api, libraryId } = place;
  const { db } = api.deps;
  await db('libraries')
    .where({ id: libraryId })
    .update({ settings: JSON.stringify(settings) });
  const editor = await api.given.admin();
  const idOf = async (title: string): Promise<string> => {
    const row = await db('items').where({ library_id: libraryId, title }).orderBy('id').first('id');
    return row?.id ?? '';
  };
  return {
    ...place,
    editor,
    idOf,
    async save() {
      await db('pending_saves').where({ library_id: libraryId }).update({ due_at: new Date() });
      try {
        return (await saveMetadata({ libraryId }, place.work())) as Record<string, number>;
      } catch (error) {
        if (error instanceof Postponed) return { postponed: 1 };
        throw error;
      }
    },
    edit: async (title, body) =>
      void (await api.as(editor).updateItem({ params: { id: await idOf(title) }, body } as never)),
    text: (name) => readFile(join(place.path, name), 'utf8'),
    filesIn: async (directory) =>
      (await readdir(join(place.path, directory))).filter((name) => !/\.(?:mkv|mp4|cbz)$/.test(name)).sort(),
    async layers(title) {
      const rows = await db('item_layers')
        .where({ item_id: await idOf(title) })
        .select('source');
      return rows.map(({ source }) => source);
    },
  };
}
