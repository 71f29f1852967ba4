// ConfigMaps of spec.declared -> entries. Pure.
import { type Body, collections } from './collections.ts';

export interface DeclaredMap {
  configMap: string;
  /** Undefined while the ConfigMap does not exist. */
  files: Readonly<Record<string, string | Uint8Array>> | undefined;
}

export interface Entry {
  /** Location of the entry in messages. */
  where: string;
  /** The name or key in the form in which they are compared. The server decides whether it is valid. */
  key: string;
  body: Body;
}

/** The name of the icon set whose archive the file is. */
export const iconSetOf = (file: string): string | undefined => /^icons-([a-z0-9-]{1,60})\.zip$/.exec(file)?.[1];

/** The declared entries of one collection. */
export interface Wanted {
  entries: Entry[];
  troubles: string[];
  /** All files could be read, so records that are not declared may be deleted. */
  whole: boolean;
}

/** Names are equal when they differ only in letter case. */
export const keyOf = (name: string): string => name.normalize('NFC').trim().toLowerCase();

export function wantedOf(file: string, maps: readonly DeclaredMap[]): Wanted {
  const wanted: Wanted = { entries: [], troubles: [], whole: true };
  const knownBy = collections[file]?.knownBy ?? 'name';
  for (const { configMap, files } of maps) {
    const text = files?.[file];
    if (!files) fail(wanted, `ConfigMap ${configMap} does not exist: create it`);
    else if (text !== undefined) readFile(wanted, { where: `ConfigMap ${configMap}, ${file}`, knownBy }, text);
  }
  return wanted;
}

function fail(wanted: Wanted, trouble: string): void {
  wanted.troubles.push(trouble);
  wanted.whole = false;
}

interface At {
  where: string;
  /** The member by which entries are known. */
  knownBy: 'name' | 'key';
}

function readFile(wanted: Wanted, { where, knownBy }: At, text: string | Uint8Array): void {
  const list = listIn(typeof text === 'string' ? text : Buffer.from(text).toString('utf8'));
  if (!list) fail(wanted, `${where}: it must be a JSON list`);
  for (const [index, body] of (list ?? []).entries())
    readEntry(wanted, { where: `${where}, entry ${index + 1}`, knownBy }, body);
}

function listIn(text: string): unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function readEntry(wanted: Wanted, { where, knownBy }: At, given: unknown): void {
  const name = ((given ?? {}) as Body)[knownBy];
  if (typeof name !== 'string') {
    fail(wanted, `${where}: it must be an object with a ${knownBy}`);
    return;
  }
  const entry = { where: `${where} (${name.slice(0, 60)})`, key: keyOf(name), body: given as Body };
  if (wanted.entries.some(({ key }) => key === entry.key))
    wanted.troubles.push(`${entry.where}: the ${knownBy} is declared twice`);
  else wanted.entries.push(entry);
}

/** Files whose names mean nothing in `spec.declared`. */
export function unknownFiles(maps: readonly DeclaredMap[]): string[] {
  const all = maps.flatMap(({ configMap, files = {} }) => Object.keys(files).map((file) => ({ configMap, file })));
  const isKnown = (file: string): boolean =>
    Object.hasOwn(collections, file) || file === 'home.json' || iconSetOf(file) !== undefined;
  return all
    .filter(({ file }) => !isKnown(file))
    .map(({ configMap, file }) => `${file} of ConfigMap ${configMap}: spec.declared has no such file`);
}
