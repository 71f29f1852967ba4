// Writes one file of an item and a row that describes it.
import { readdir } from 'node:fs/promises';
import {
  confirmSavedFile,
  dropUnwritten,
  findSavedFiles,
  isSavedContent,
  noteSavedFile,
  type SavedFile,
} from '#areas/libraries/public.ts';
import type { Db } from '#platform/db.ts';
import { placeFile, sha256Of } from '#platform/place-file.ts';
import { isMedia } from '../scan/names/media.ts';
import type { SavePlace } from './places.ts';

/** Of an empty file, which holds a name for a moment where a file system has no hard links. */
const EMPTY = sha256Of(Buffer.alloc(0));

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
    return new SaveFolder({ db, library, place, names: await readdir(place.absolute), saved });
  }

  /** Files in the folder that Foyer has not written. */
  foreign(): string[] {
    const own = new Set(this.#saved.map(({ name }) => name));
    return this.#names.filter((name) => !own.has(name));
  }

  /** Whether the picture under the name was made of the same one, and is still there. */
  isMadeOf(name: string, madeOf: string): boolean {
    const row = this.#saved.find((one) => one.name === name);
    return row?.modified_ms != null && row.made_of === madeOf && this.#names.includes(name);
  }

  /** Writes the bytes under the name, unless a file of somebody else has it. */
  async write(name: string, bytes: Buffer, madeOf?: string): Promise<Outcome> {
    const { storageId, directory } = this.place;
    if (isMedia(this.#library.type, name)) return 'foreign';
    // one process at a time, in a transaction that only holds the lock: notes must outlive a process that ends between them
    return this.#db.transaction(async (lock) => {
      await lock.raw('select pg_advisory_xact_lock(hashtextextended(?, 17))', [`${storageId}/${directory}/${name}`]);
      return this.#place(name, bytes, madeOf);
    });
  }

  async #place(name: string, bytes: Buffer, madeOf: string | undefined): Promise<Outcome> {
    const { storageId, directory, absolute } = this.place;
    const at = { storageId, directory, name };
    const sha256 = sha256Of(bytes);
    const placed = await placeFile({
      ...{ directory: absolute, name, bytes },
      isOwn: (found) => this.#isOwn(name, found),
      announce: () =>
        noteSavedFile(this.#db, { ...at, libraryId: this.#library.id, sha256, sizeBytes: bytes.length, madeOf }),
    });
    if (placed.kind === 'foreign') await dropUnwritten(this.#db, at, sha256);
    else {
      if (placed.kind === 'same')
        await noteSavedFile(this.#db, { ...at, libraryId: this.#library.id, sha256, sizeBytes: bytes.length, madeOf });
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
