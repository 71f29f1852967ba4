// Which files a test file can reach: what it imports, and what it names by a path, such as a program that it starts.
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** A tree: the paths of its files, and the text of each. */
export interface Tree {
  files: ReadonlySet<string>;
  read(path: string): string;
}

/** A change of one of these can change the result of any test. */
const EVERYWHERE = [
  /^(package|package-lock|tsconfig)\.json$/,
  /^\.(mocharc\.json|ci\/)/,
  /^api\/platform\/migrations\//,
  /^test\/support\//,
  /^hack\/(test|install\.sh|generate\.ts)$/,
  /^hack\/(gate|client|mail|manifests|expressions)\//,
  /^(crds|manifests)\//,
  /^api\/(openapi\.json$|client\/)/,
];

/** No test reads these but those that read the whole tree. */
const NOWHERE = [/\.md$/, /^hack\/gate\/seconds\.json$/, /^hack\/(bench|demo)\//, /^\.gitignore$/];

const ALIASES = Object.entries(
  (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { imports: object }).imports,
).map(([alias, path]: [string, string]) => [alias.slice(0, -1), path.slice(2, -1)] as const);

/** A path in quotes, whole or up to its first placeholder. */
const QUOTED = /['"`}]((?:[#.\w@-]|\/)+)(['"`]|\$\{)/g;
/** A path in a shell script, less the variable that it begins with. */
const WORD = /(?:\$\{?\w+\}?)?((?:[.\w@-]*\/)+[.\w@-]+)()/g;

function candidates(file: string, text: string, cut: boolean): string[] {
  const name = cut ? text.slice(0, text.lastIndexOf('/') + 1) : text;
  const alias = ALIASES.find(([start]) => name.startsWith(start));
  if (alias) return [alias[1] + name.slice(alias[0].length)];
  const relative = normalize(join(dirname(file), name)).replace(/\/$/, '');
  // A test that reads the whole tree names its root; elsewhere that is what a longer path begins with.
  if (/^[./]*$/.test(name)) return relative === WHOLE && name !== '' && /^test\/.*\.ts$/.test(file) ? [relative] : [];
  if (name.startsWith('.')) return [relative];
  if (!name.includes('/')) return name.includes('.') ? [relative] : [];
  const fromRoot = normalize(name.replace(/^\/+/, '')).replace(/\/$/, '');
  // `/api` and `/test` are addresses more often than folders; `hack/${name}` is a path.
  return fromRoot.includes('/') || (cut && !name.startsWith('/')) ? [fromRoot, relative] : [relative];
}

const WHOLE = '.';

/** What the files of a tree name, by the file that is named. */
class Names {
  readonly #tree: Tree;
  readonly #folders = new Map<string, string[]>();
  readonly #namedBy = new Map<string, Set<string>>();

  constructor(tree: Tree) {
    this.#tree = tree;
    for (const file of tree.files) this.#shelve(file);
    for (const file of tree.files)
      for (const named of this.#namedIn(file)) {
        const by = this.#namedBy.get(named) ?? new Set();
        this.#namedBy.set(named, by.add(file));
      }
  }

  /** Each folder with all that is in it, however deep. */
  #shelve(file: string): void {
    for (let folder = dirname(file); ; folder = dirname(folder)) {
      const inside = this.#folders.get(folder) ?? [];
      inside.push(file);
      this.#folders.set(folder, inside);
      if (folder === WHOLE) break;
    }
  }

  #namedIn(file: string): Set<string> {
    const pattern = /\.[cm]?[jt]s$/.test(file) ? QUOTED : /(\.sh|\/[\w-]+)$/.test(file) ? WORD : undefined;
    const found = new Set<string>();
    if (!pattern) return found;
    for (const [, name = '', end] of this.#tree.read(file).matchAll(pattern))
      for (const path of candidates(file, name, end === '${')) for (const one of this.#at(path)) found.add(one);
    return found;
  }

  /** A whole tree is represented by its root, because the root contains every file. */
  #at(path: string): readonly string[] {
    return path === WHOLE || this.#tree.files.has(path) ? [path] : (this.#folders.get(path) ?? []);
  }

  /** All that names a file, or names what names it, and so on; the file itself included. */
  reaching(file: string): Set<string> {
    const reaching = new Set([file]);
    for (const one of reaching) for (const by of this.#namedBy.get(one) ?? []) reaching.add(by);
    return reaching;
  }
}

/** The test files that a change can reach; all of them when it is not known what a changed file can reach. */
export function testsReached(tests: readonly string[], changed: readonly string[], tree: Tree): string[] {
  const of = (file: string, patterns: readonly RegExp[]): boolean => patterns.some((pattern) => pattern.test(file));
  if (changed.some((file) => of(file, EVERYWHERE) && !of(file, NOWHERE))) return [...tests];
  const names = new Names(tree);
  const whole = names.reaching(WHOLE);
  const found = new Set(changed.length > 0 ? tests.filter((test) => whole.has(test)) : []);
  for (const file of changed) {
    const reaching = names.reaching(file);
    const reached = tests.filter((test) => reaching.has(test));
    if (reached.length === 0 && !of(file, NOWHERE) && !file.endsWith('.test.ts')) return [...tests];
    for (const test of reached) found.add(test);
  }
  return tests.filter((test) => found.has(test));
}
