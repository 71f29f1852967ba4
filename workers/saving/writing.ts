// Writes one file of an item and a row that describes it.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  confirmSavedFile,
  dropSavedFile,
  dropUnwritten,
  findSavedFiles,
  isSavedContent,
  noteSavedFile,
  type SavedFile,
} from '#areas/libraries/public.ts';
import type { Db } from '#platform/db.ts';
import { hashAt, placeFile, removeFile, sha256Of, sweepHidden } from '#platform/place-file.ts';
import { isMedia } from '../scan/names/media.ts';
import type { SavePlace } from './places.ts';

/** Of an empty file, which holds a name for a moment where a file system has no hard links. */
const EMPTY = sha256Of(Buffer.alloc(0));

/** The picture that the bytes were made from, or the item whose values they are. */
interface WrittenOf {
  madeOf?: string;
  itemId?: string;
}

export type Outcome = 'written' | 'same' | 'foreign';

/** A folder with its files, and those that Foyer wrote there. */
export class SaveFolder {
  readonly place: SavePlace;
  readonly #db: Db;
  readonly #library: { id: string; type: string };
  readonly #names: readonly string[];
  readonly #saved: readonly SavedFile[];

  private constructor(given: {
    db: Db;
    library: { id: string; type: string };
    place: SavePlace;
    names: readonly string[];
    saved: readonly SavedFile[];
  }) {
    this.place = given.place;
    this.#db = given.db;
    this.#library = given.library;
    this.#names = given.names;
    this.#saved = given.saved;
  }

  static async open(db: Db, library: { id: string; type: string }, place: SavePlace): Promise<SaveFolder> {
    const { storageId, directory } = place;
    const saved = await findSavedFiles(db, library.id, { storageId, directories: [directory], times: [] });
    const names = await readdir(place.absolute);
    await sweepHidden(place.absolute, names);
    return new SaveFolder({ db, library, place, names, saved });
  }

  /** Files in the folder that Foyer has not written. */
  foreign(): string[] {
    const own = new Set(this.#saved.map(({ name }) => name));
    return this.#names.filter((name) => !own.has(name));
  }

  /** Whether one of these names has a file of somebody else. A folder that was renamed holds own files too. */
  async hasForeign(names: readonly string[]): Promise<boolean> {
    const wanted = new Set(names.map((name) => name.toLowerCase()));
    for (const name of this.foreign().filter((one) => wanted.has(one.toLowerCase()))) {
      const sha256 = await hashAt(join(this.place.absolute, name));
      if (sha256 === undefined || !(await this.#isOwn(name, sha256))) return true;
    }
    return false;
  }

  /** Removes a former file of an item from the folder, unless its bytes changed or it is of another item now. */
  async removeFormer(row: SavedFile): Promise<void> {
    const { name, sha256, item_id: itemId } = row;
    const { absolute } = this.place;
    if (!this.#names.includes(name) || isMedia(this.#library.type, name)) return;
    if (this.#saved.some((one) => one.name === name && one.item_id !== itemId && one.modified_ms !== null)) return;
    if (!(await removeFile(join(absolute, name), sha256))) return;
    await dropSavedFile(this.#db, { storageId: row.storage_id, directory: row.directory, name }, sha256);
  }

  /** Whether the picture under the name was made of the same one, and is still there. */
  isMadeOf(name: string, madeOf: string): boolean {
    const row = this.#saved.find((one) => one.name === name);
    return row?.modified_ms != null && row.made_of === madeOf && this.#names.includes(name);
  }

  /** Writes the bytes under the name, unless a file of somebody else has it. */
  async write(name: string, bytes: Buffer, of: WrittenOf = {}): Promise<Outcome> {
    const { storageId, directory } = this.place;
    if (isMedia(this.#library.type, name)) return 'foreign';
    // one process at a time, in a transaction that only holds the lock: notes must outlive a process that ends between them
    return this.#db.transaction(async (lock) => {
      await lock.raw('select pg_advisory_xact_lock(hashtextextended(?, 17))', [`${storageId}/${directory}/${name}`]);
      return this.#place(name, bytes, of);
    });
  }

  async #place(name: string, bytes: Buffer, { madeOf, itemId }: WrittenOf): Promise<Outcome> {
    const { storageId, directory, absolute } = this.place;
    const at = { storageId, directory, name };
    const sha256 = sha256Of(bytes);
    const written = { ...at, libraryId: this.#library.id, sha256, sizeBytes: bytes.length, madeOf, itemId };
    const placed = await placeFile({
      ...{ directory: absolute, name, bytes },
      isOwn: (found) => this.#isOwn(name, found),
      announce: () => noteSavedFile(this.#db, written),
    });
    if (placed.kind === 'foreign') await dropUnwritten(this.#db, at, sha256);
    else {
      if (placed.kind === 'same') await noteSavedFile(this.#db, written);
      await confirmSavedFile(this.#db, at, { sha256, modifiedMs: placed.modifiedMs });
    }
    return placed.kind;
  }

  async #isOwn(name: string, sha256: string): Promise<boolean> {
    const { storageId, directory } = this.place;
    const place = { storageId, directories: [directory], times: [] };
    const rows = (await findSavedFiles(this.#db, this.#library.id, place)).filter((row) => row.name === name);
    if (rows.some((row) => row.sha256 === sha256)) return true;
    if (sha256 === EMPTY) return rows.some((row) => row.modified_ms === null);
    return isSavedContent(this.#db, this.#library.id, { sha256 });
  }
}
