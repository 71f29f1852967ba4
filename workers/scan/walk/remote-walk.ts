import { Absent, type Listed, StorageFault, type StorageReader } from '#areas/storage/public.ts';
import { isPassedOver } from '../names/kinds.ts';
import { isMedia, isNoted } from '../names/media.ts';
import { remoteAt } from '../remote-roots.ts';
import { type IgnoreRules, isIgnored, readIgnore } from './ignore.ts';
import { contentOf, signatureOf } from './signatures.ts';
import type { KnownDirectory, Same, WalkBatch, WalkedDirectory, WalkOrder } from './types.ts';
import { empty, sumUpUnreadable, twinsIn } from './walk.ts';

const BATCH_FILES = 500;
const BATCH_DIRECTORIES = 200;
const MOST_ENTRIES = 200_000;
const IGNORE_FILE = '.foyerignore';
const IGNORE_BYTES = 64 * 1024;
/** Longest path inside the storage in bytes, limited by the size of an index entry in Postgres. */
const MAX_PATH = 2000;

interface Waiting {
  path: string;
  rules: readonly IgnoreRules[];
}

/**
 * Lists a folder of a remote storage like `Walk` lists one of a mount. Every directory is listed, because the time of a
 * remote folder proves nothing. Throws `StorageFault` when the storage does not answer.
 */
export class RemoteWalk {
  readonly #order: WalkOrder;
  readonly #signal: AbortSignal;
  readonly #waiting: Waiting[];
  #same: Same = { directories: 0, passed: 0, media: 0, faults: 0 };

  constructor(order: WalkOrder, signal: AbortSignal) {
    this.#order = order;
    this.#signal = signal;
    const rules = [readIgnore(order.folder, order.ignore)];
    this.#waiting = order.from.toReversed().map((path) => ({ path, rules }));
  }

  async next(): Promise<WalkBatch> {
    const { reader } = await remoteAt(this.#order.root);
    const directories: WalkedDirectory[] = [];
    this.#same = { directories: 0, passed: 0, media: 0, faults: 0 };
    let files = 0;
    for (
      let next = this.#waiting.pop();
      next;
      next = files < BATCH_FILES && directories.length < BATCH_DIRECTORIES ? this.#waiting.pop() : undefined
    ) {
      this.#signal.throwIfAborted();
      const directory = await this.#walk(reader, next);
      if (directory) directories.push(directory);
      files += directory?.files.length ?? 0;
    }
    return { directories, same: this.#same, done: this.#waiting.length === 0, identity: this.#order.root };
  }

  /** Undefined for an unchanged directory, which is only counted. */
  async #walk(reader: StorageReader, { path, rules }: Waiting): Promise<WalkedDirectory | undefined> {
    const directory = empty(path);
    try {
      const { entries, cut } = await reader.list(path, { most: MOST_ENTRIES, signal: this.#signal });
      if (cut) throw new StorageFault('full', 'the folder has too many entries');
      this.#take(directory, entries, [...rules, ...(await rulesIn(reader, path, entries))]);
    } catch (error) {
      return this.#failed(directory, error);
    }
    const known = this.#trusted(path);
    if (!known || this.#isChanged(directory, known)) return directory;
    this.#same.directories += 1;
    this.#same.media += known.media;
    this.#same.faults += known.faults;
    return undefined;
  }

  /** An absent directory is gone; a storage that does not answer proves nothing. */
  #failed(directory: WalkedDirectory, error: unknown): WalkedDirectory {
    if (error instanceof Absent) return { ...directory, state: 'gone' };
    if (!(error instanceof StorageFault) || directory.path === this.#order.folder) throw error;
    directory.issues.push({ kind: 'unreadable', path: directory.path, detail: error.reason });
    return { ...directory, state: 'failed' };
  }

  #take(directory: WalkedDirectory, entries: readonly Listed[], rules: readonly IgnoreRules[]): void {
    for (const entry of entries) this.#note(directory, entry, rules);
    sumUpUnreadable(directory);
    directory.files.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const name of twinsIn([...directory.directories, ...directory.files.map((file) => file.name)]))
      directory.issues.push({ kind: 'name-conflict', path: inside(directory.path, name) });
    directory.media = directory.files.filter((file) => isMedia(this.#order.type, file.name)).length;
    directory.signature = signatureOf(directory.files, this.#order);
    directory.directories.sort();
    if (!this.#order.shallow)
      for (const name of directory.directories.toReversed())
        this.#waiting.push({ path: inside(directory.path, name), rules });
    directory.content = contentOf(directory, this.#order.version);
  }

  #note(directory: WalkedDirectory, { name, kind, size, modifiedMs }: Listed, rules: readonly IgnoreRules[]): void {
    const path = inside(directory.path, name);
    if (isPassedOver(name) || isIgnored(rules, path, kind === 'directory')) directory.ignored += 1;
    else if (Buffer.byteLength(path) > MAX_PATH)
      directory.issues.push({ kind: 'too-long-path', path: path.slice(0, 500) });
    else if (kind === 'directory') directory.directories.push(name);
    else if (kind === 'file' && isNoted(this.#order.type, name))
      directory.files.push({ name, size, mtimeMs: modifiedMs, inode: '' });
  }

  #trusted(path: string): KnownDirectory | undefined {
    const known = this.#order.known?.get(path);
    return known?.content === '' ? undefined : known;
  }

  #isChanged({ path, directories, content }: WalkedDirectory, known: KnownDirectory): boolean {
    if (known.content !== content) return true;
    const there = new Set(directories);
    return [...(this.#order.expected?.get(path) ?? [])].some((name) => !there.has(name));
  }
}

const inside = (path: string, name: string): string => (path === '' ? name : `${path}/${name}`);

/** The rules of the ignore file in a directory. */
async function rulesIn(reader: StorageReader, path: string, entries: readonly Listed[]): Promise<IgnoreRules[]> {
  const file = entries.find(({ name, kind }) => name === IGNORE_FILE && kind === 'file');
  if (!file || file.size > IGNORE_BYTES) return [];
  const bytes = await reader.read(inside(path, IGNORE_FILE), { start: 0, length: file.size });
  return [readIgnore(path, bytes.toString('utf8').split('\n'))];
}
