// Files that Foyer wrote next to media itself: a scan does not see them.
import { findSavedFiles, hasSavedFiles, isSavedContent, type SavedFile } from '#areas/libraries/public.ts';
import type { Db } from '#platform/db.ts';
import { sha256Of } from '#platform/place-file.ts';
import { Breath } from '../breath.ts';
import { kindOf } from '../names/kinds.ts';
import { isMedia } from '../names/media.ts';
import { signatureOf } from '../walk/signatures.ts';
import type { WalkedDirectory, WalkedFile } from '../walk/types.ts';

/** Some file systems store coarse times. */
const SLACK_MS = 1000;

interface Of {
  id: string;
  type: string;
  storageIds: readonly string[];
  /** Of the code that groups files, for signatures. */
  version: string;
  /** Whether its settings have files written, also while it is scanned. */
  saves: boolean;
}

/** The files that Foyer wrote in the folders of a library. */
export class SavedFiles {
  readonly #db: Db;
  readonly #library: Of;
  #any: Promise<boolean> | undefined;

  constructor(db: Db, library: Of) {
    this.#db = db;
    this.#library = library;
  }

  /** Whether there may be any; most libraries have none. */
  async any(): Promise<boolean> {
    if (this.#library.saves) return true;
    this.#any ??= hasSavedFiles(this.#db, this.#library.id, this.#library.storageIds);
    return this.#any;
  }

  /** Takes them out of listed directories, with what the listing counted and signed of them. */
  async leaveOut(storageId: string, directories: readonly WalkedDirectory[]): Promise<void> {
    if (!(await this.any())) return;
    const own = await this.#found(
      storageId,
      directories.map(({ path, files }) => ({ path, files })),
    );
    const { type, version } = this.#library;
    for (const directory of directories) {
      const files = await own.othersIn(storageId, directory.path, directory.files);
      if (files.length === directory.files.length) continue;
      directory.files = files;
      directory.media = files.filter(({ name }) => isMedia(type, name)).length;
      directory.signature = signatureOf(files, { type, version });
    }
  }

  /** The files of one directory without them. */
  async without(storageId: string, directory: string, files: readonly WalkedFile[]): Promise<WalkedFile[]> {
    if (!(await this.any())) return [...files];
    const own = await this.#found(storageId, [{ path: directory, files }]);
    return own.othersIn(storageId, directory, files);
  }

  /** Whether the library has had these bytes written, wherever the file is now. */
  async isWritten(bytes: Uint8Array): Promise<boolean> {
    return (await this.any()) && isSavedContent(this.#db, this.#library.id, { sha256: sha256Of(bytes) });
  }

  async #found(
    storageId: string,
    listed: readonly { path: string; files: readonly WalkedFile[] }[],
  ): Promise<OwnFiles> {
    const sidecars = listed.flatMap(({ files }) =>
      files.filter(({ name }) => ['nfo', 'picture'].includes(kindOf(name))),
    );
    const rows = await findSavedFiles(this.#db, this.#library.id, {
      storageId,
      directories: listed.map(({ path }) => path),
      times: [...new Set(sidecars.map(({ mtimeMs }) => Math.trunc(mtimeMs)))],
    });
    return new OwnFiles(rows);
  }
}

const placeKey = (storageId: string, directory: string, name: string): string =>
  [storageId, directory, name].join('\0');

/** Found by place and by time: a folder of photos may hold tens of thousands of them. */
class OwnFiles {
  readonly #byPlace: ReadonlyMap<string, SavedFile[]>;
  readonly #byTime: ReadonlyMap<number | null, SavedFile[]>;
  readonly #breath = new Breath();

  constructor(rows: readonly SavedFile[]) {
    this.#byPlace = Map.groupBy(rows, (row) => placeKey(row.storage_id, row.directory, row.name));
    this.#byTime = Map.groupBy(rows, (row) => row.modified_ms);
  }

  /** Compares size and time: roughly at its place, exactly at any other place, where a person moved it to. */
  has(storageId: string, directory: string, { name, size, mtimeMs }: WalkedFile): boolean {
    const key = placeKey(storageId, directory, name);
    const here = this.#byPlace.get(key) ?? [];
    const isHere = (row: SavedFile): boolean =>
      row.size_bytes === size && (row.modified_ms === null || Math.abs(row.modified_ms - mtimeMs) <= SLACK_MS);
    const isElsewhere = (row: SavedFile): boolean =>
      row.size_bytes === size && placeKey(row.storage_id, row.directory, row.name) !== key;
    return here.some(isHere) || (this.#byTime.get(Math.trunc(mtimeMs)) ?? []).some(isElsewhere);
  }

  /** Those of the files that are not own ones. */
  async othersIn(storageId: string, directory: string, files: readonly WalkedFile[]): Promise<WalkedFile[]> {
    const others: WalkedFile[] = [];
    for (const file of files) {
      if (!this.has(storageId, directory, file)) others.push(file);
      if (this.#breath.isDue) await this.#breath.take();
    }
    return others;
  }
}
