import { type Dirent, lstatSync, readdirSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { isPassedOver } from '../names/kinds.ts';
import { isMedia, isNoted } from '../names/media.ts';
import { type IgnoreRules, isIgnored, readIgnore } from './ignore.ts';
import { isOfDevice, lostAbove, noteMove } from './lost.ts';
import { contentOf, signatureOf } from './signatures.ts';
import type { KnownDirectory, Same, WalkBatch, WalkedDirectory, WalkedFile, WalkOrder } from './types.ts';

/** A batch ends after the directory that reaches one of these. */
const BATCH_FILES = 500;
const BATCH_DIRECTORIES = 1000;
const IGNORE_FILE = '.foyerignore';
/** A larger ignore file is not read. */
const IGNORE_BYTES = 64 * 1024;
/** Longest path inside the storage in bytes, limited by the size of an index entry in Postgres. */
const MAX_PATH = 2000;
/** ENOENT and ENOTDIR; no other error proves absence. Numbers, because ESTALE (-116) has no name in Node. */
const ABSENT = new Set([-2, -20]);
/** ELOOP: a link to itself, which is never a file. */
const LOOP = -40;

/** A directory to walk, with the ignore rules of the directories above it. */
interface Waiting {
  path: string;
  rules: readonly IgnoreRules[];
}

/**
 * Lists a folder depth first, parents before children, one batch per call. Synchronous: it runs in a thread of its own.
 */
export class Walk {
  readonly #order: WalkOrder;
  /** A stack: the next directory is the last one. */
  readonly #waiting: Waiting[];
  /** Real paths that links may lead to. */
  readonly #tops: readonly string[];
  #same: Same = { directories: 0, passed: 0, media: 0, faults: 0 };

  constructor(order: WalkOrder) {
    this.#order = order;
    const rules = [readIgnore(order.folder, order.ignore)];
    this.#waiting = order.from.toReversed().map((path) => ({ path, rules: [...rules, ...this.#rulesAbove(path)] }));
    this.#tops = [realpathSync(join(order.root, order.folder)), ...(order.tops ?? [])];
  }

  /** Throws when the library's own folder, or its mount, is gone. */
  next(): WalkBatch {
    const directories: WalkedDirectory[] = [];
    this.#same = { directories: 0, passed: 0, media: 0, faults: 0 };
    let files = 0;
    while (
      this.#waiting.length > 0 &&
      files < BATCH_FILES &&
      directories.length + this.#same.directories < BATCH_DIRECTORIES
    ) {
      const directory = this.#walk(this.#waiting.pop() as Waiting);
      if (!directory) continue;
      directories.push(directory);
      files += directory.files.length;
    }
    return { directories, same: this.#same, done: this.#waiting.length === 0, identity: identityOf(this.#order) };
  }

  /** The ignore files between the folder and the start of a partial scan. */
  #rulesAbove(path: string): IgnoreRules[] {
    const { root, folder } = this.#order;
    const parts = path === folder ? [] : path.slice(folder === '' ? 0 : folder.length + 1).split('/');
    return parts.flatMap((_, i) =>
      rulesIn(root, [folder, ...parts.slice(0, i)].filter((part) => part !== '').join('/')),
    );
  }

  /** Lists a directory and puts its subdirectories on the stack. Undefined for an unchanged one, which is only counted. */
  #walk({ path, rules }: Waiting): WalkedDirectory | undefined {
    const directory = empty(path);
    noteMove(this.#order);
    try {
      directory.modifiedMs = statSync(join(this.#order.root, path)).mtimeMs;
      const known = this.#trusted(path);
      const sameTime = known?.modifiedMs === directory.modifiedMs;
      const isSkipped = sameTime && this.#order.quick === true;
      if (isSkipped) this.#skip(directory, rules);
      else this.#list(directory, [...rules, ...rulesIn(this.#order.root, path)]);
      if (!known || (!isSkipped && this.#isChanged(directory, known))) return directory;
      this.#countSame(known, isSkipped);
      return sameTime ? undefined : { ...directory, state: 'same', files: [], directories: [] };
    } catch (error) {
      return this.#failed(directory, error);
    }
  }

  /**
   * Reports a lost mount as one failure, however many directories it contains: those that wait are dropped. Throws if it
   * is the library's folder.
   */
  #failed(directory: WalkedDirectory, error: unknown): WalkedDirectory {
    const lost = isOfDevice(error) ? lostAbove(this.#order, directory.path) : undefined;
    if (lost === this.#order.folder) throw error;
    const failed = lost === undefined || lost === directory.path ? directory : empty(lost);
    fail(failed, error);
    if (lost === undefined) return failed;
    const rest = this.#waiting.splice(0).filter(({ path }) => !path.startsWith(`${lost}/`));
    this.#waiting.push(...rest);
    return failed;
  }

  /** Whether its content changed or a known subdirectory vanished. */
  #isChanged({ path, directories, content }: WalkedDirectory, known: KnownDirectory): boolean {
    if (known.content !== content) return true;
    const there = new Set(directories);
    return [...(this.#order.expected?.get(path) ?? [])].some((name) => !there.has(name));
  }

  /** The known state. Undefined if there is none, or if the directory must be reported each time. */
  #trusted(path: string): KnownDirectory | undefined {
    const known = this.#order.known?.get(path);
    return known?.content === '' ? undefined : known;
  }

  #countSame(known: KnownDirectory, isSkipped: boolean): void {
    this.#same.directories += 1;
    this.#same.passed += Number(isSkipped);
    this.#same.media += known.media;
    this.#same.faults += known.faults;
  }

  /** Skips the listing, but walks the known subdirectories. */
  #skip(directory: WalkedDirectory, rules: readonly IgnoreRules[]): void {
    directory.directories = [...(this.#order.expected?.get(directory.path) ?? [])];
    this.#enter(directory, rules);
  }

  /** Fills in the directory. The content comes last, because it depends on everything before. */
  #list(directory: WalkedDirectory, rules: readonly IgnoreRules[]): void {
    const absolute = join(this.#order.root, directory.path);
    for (const entry of entriesOf(absolute, directory)) this.#note(directory, entry, rules);
    sumUpUnreadable(directory);
    directory.files.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const name of twinsIn([...directory.directories, ...directory.files.map((file) => file.name)]))
      directory.issues.push({ kind: 'name-conflict', path: joined(directory.path, name) });
    directory.media = directory.files.filter((file) => isMedia(this.#order.type, file.name)).length;
    directory.signature = signatureOf(directory.files, this.#order);
    this.#enter(directory, rules);
    directory.content = contentOf(directory, this.#order.version);
  }

  /** Puts the subdirectories on the stack, the first one on top. */
  #enter(directory: WalkedDirectory, rules: readonly IgnoreRules[]): void {
    directory.directories.sort();
    if (this.#order.shallow) return;
    for (const name of directory.directories.toReversed())
      this.#waiting.push({ path: joined(directory.path, name), rules });
  }

  /** Adds an entry to the directory: as subdirectory, file or issue, or not at all. */
  #note(directory: WalkedDirectory, entry: Dirent, rules: readonly IgnoreRules[]): void {
    const path = joined(directory.path, entry.name);
    if (isPassedOver(entry.name) || isIgnored(rules, path, entry.isDirectory())) {
      directory.ignored += 1;
    } else if (Buffer.byteLength(path) > MAX_PATH) {
      directory.issues.push({ kind: 'too-long-path', path: path.slice(0, 500) });
    } else if (entry.isDirectory()) {
      directory.directories.push(entry.name);
    } else if (entry.isSymbolicLink()) {
      this.#link(directory, entry.name);
    } else if (entry.isFile() && isNoted(this.#order.type, entry.name)) {
      this.#file(directory, entry.name);
    }
  }

  #file(directory: WalkedDirectory, name: string): void {
    noteMove(this.#order);
    try {
      directory.files.push(fileOf(name, statSync(`${this.#order.root}/${joined(directory.path, name)}`)));
    } catch (error) {
      if (isOfDevice(error) && lostAbove(this.#order, directory.path) !== undefined) throw error;
      if (isAbsence(error)) return;
      directory.issues.push({ kind: 'unreadable', path: joined(directory.path, name), detail: wordOf(error) });
      directory.state = 'failed'; // its absence is not proven, so nothing about this directory is certain
    }
  }

  /**
   * A link to a file inside the library is that file; a link to a folder is not followed, because its content is listed
   * anyway.
   */
  #link(directory: WalkedDirectory, name: string): void {
    const path = joined(directory.path, name);
    try {
      const target = realpathSync(join(this.#order.root, path));
      const inside = this.#tops.some((top) => target === top || target.startsWith(top + sep));
      if (!inside) directory.issues.push({ kind: 'link-outside', path });
      else if (statSync(target).isFile() && isNoted(this.#order.type, name)) this.#file(directory, name);
    } catch (error) {
      if (isAbsence(error)) return;
      directory.issues.push({ kind: 'unreadable', path, detail: wordOf(error) });
      if (isNoted(this.#order.type, name) && Number((error as { errno?: number }).errno) !== LOOP)
        directory.state = 'failed';
    }
  }
}

export function empty(path: string): WalkedDirectory {
  const counted = { modifiedMs: 0, media: 0, ignored: 0 };
  return { path, state: 'listed', ...counted, directories: [], files: [], signature: '', content: '', issues: [] };
}

function joined(path: string, name: string): string {
  return path === '' ? name : `${path}/${name}`;
}

/**
 * The entries whose names are UTF-8; the others become issues. Node returns names that are not UTF-8 with U+FFFD, so the
 * directory is then read again as bytes.
 */
function entriesOf(absolute: string, directory: WalkedDirectory): Dirent[] {
  const entries = readdirSync(absolute, { withFileTypes: true });
  if (!entries.some((entry) => entry.name.includes('\uFFFD'))) return entries;
  const whole = new Set<string>();
  for (const name of readdirSync(absolute, 'buffer')) {
    const text = name.toString('utf8');
    if (Buffer.from(text).equals(name)) whole.add(text);
    else directory.issues.push({ kind: 'bad-encoding', path: joined(directory.path, text) });
  }
  return entries.filter((entry) => whole.has(entry.name));
}

/** Printable ASCII, which has only one normal form. */
const PLAIN = /^[\x20-\x7e]*$/;

/** The second and later ones of names that look the same but differ in their bytes. */
export function twinsIn(names: readonly string[]): string[] {
  const marked = names.filter((name) => !PLAIN.test(name));
  const seen = new Set<string>();
  return marked.filter((name) => {
    const written = name.normalize('NFC');
    const twin = seen.has(written);
    seen.add(written);
    return twin;
  });
}

function fileOf(name: string, stat: Stats): WalkedFile {
  return { name, size: stat.size, mtimeMs: stat.mtimeMs, inode: String(stat.ino) };
}

/** More unreadable files than this in a directory are reported as one issue with their number. */
const MANY = 10;

export function sumUpUnreadable(directory: WalkedDirectory): void {
  const unreadable = directory.issues.filter((issue) => issue.kind === 'unreadable');
  if (unreadable.length <= MANY) return;
  const others = directory.issues.filter((issue) => issue.kind !== 'unreadable');
  const detail = `${unreadable.length} files: ${unreadable[0]?.detail ?? ''}`;
  directory.issues = [...others, { kind: 'unreadable', path: directory.path, detail }];
}

/** Removes a partial listing: it proves nothing. */
function fail(directory: WalkedDirectory, error: unknown): void {
  directory.files = [];
  directory.directories = [];
  directory.state = isAbsence(error) ? 'gone' : 'failed';
  if (directory.state === 'failed')
    directory.issues.push({ kind: 'unreadable', path: directory.path, detail: wordOf(error) });
}

function isAbsence(error: unknown): boolean {
  return error instanceof Error && 'errno' in error && ABSENT.has(Number(error.errno));
}

/** Code and number of an error, such as `EACCES -13`. Its message is not used, because it contains an absolute path. */
function wordOf(error: unknown): string {
  return error instanceof Error && 'code' in error
    ? `${String(error.code)} ${'errno' in error ? String(error.errno) : ''}`.trim()
    : 'unknown';
}

/** The rules of the ignore file in a directory; none for an unreadable one. */
function rulesIn(root: string, path: string): IgnoreRules[] {
  const file = join(root, path, IGNORE_FILE);
  try {
    const there = lstatSync(file, { throwIfNoEntry: false }); // an exception costs more than the call
    if (!there || there.size > IGNORE_BYTES) return [];
    return [readIgnore(path, readFileSync(file, 'utf8').split('\n'))];
  } catch {
    return [];
  }
}

/** Device and inode of the root and the folder: they change when another file system is mounted there. */
function identityOf({ root, folder }: Pick<WalkOrder, 'root' | 'folder'>): string {
  return [root, join(root, folder)]
    .map((path) => statSync(path))
    .map((stat) => `${stat.dev}:${stat.ino}`)
    .join('/');
}
