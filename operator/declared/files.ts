// ConfigMaps of spec.declared -> entries. Pure.
import { type Body, collections, isUnserved } from './collections.ts';

export interface DeclaredMap {
  configMap: string;
  /** Undefined while there is no such ConfigMap. */
  files: Readonly<Record<string, string | Uint8Array>> | undefined;
}

export interface Entry {
  /** For people. */
  where: string;
  /** As names are compared; the server has the last word on what is one. */
  key: string;
  body: Body;
}

/** What is declared of one collection. */
export interface Wanted {
  entries: Entry[];
  troubles: string[];
  /** Everything could be read: what is not named may go. */
  whole: boolean;
}

/** Names differ by more than the case of letters. */
export const keyOf = (name: string): string => name.normalize('NFC').trim().toLowerCase();

export function wantedOf(file: string, maps: readonly DeclaredMap[]): Wanted {
  const wanted: Wanted = { entries: [], troubles: [], whole: true };
  for (const { configMap, files } of maps) {
    const text = files?.[file];
    if (!files) fail(wanted, `ConfigMap ${configMap} does not exist: make it`);
    else if (text !== undefined) readFile(wanted, `ConfigMap ${configMap}, ${file}`, text);
  }
  return wanted;
}

function fail(wanted: Wanted, trouble: string): void {
  wanted.troubles.push(trouble);
  wanted.whole = false;
}

function readFile(wanted: Wanted, where: string, text: string | Uint8Array): void {
  const list = listIn(typeof text === 'string' ? text : Buffer.from(text).toString('utf8'));
  if (!list) fail(wanted, `${where}: it must be a list in JSON`);
  for (const [index, body] of (list ?? []).entries()) readEntry(wanted, `${where}, entry ${index + 1}`, body);
}

function listIn(text: string): unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function readEntry(wanted: Wanted, where: string, given: unknown): void {
  const { name } = (given ?? {}) as { name?: unknown };
  if (typeof name !== 'string') {
    fail(wanted, `${where}: it must be an object with a name`);
    return;
  }
  const entry = { where: `${where} (${name.slice(0, 60)})`, key: keyOf(name), body: given as Body };
  if (wanted.entries.some(({ key }) => key === entry.key))
    wanted.troubles.push(`${entry.where}: the name is there twice`);
  else wanted.entries.push(entry);
}

/** Files that this version does nothing with, and names that are none. */
export function otherFiles(maps: readonly DeclaredMap[]): { unserved: string[]; unknown: string[] } {
  const all = maps.flatMap(({ configMap, files = {} }) => Object.keys(files).map((file) => ({ configMap, file })));
  const rest = all.filter(({ file }) => !Object.hasOwn(collections, file));
  const say = ({ configMap, file }: { configMap: string; file: string }): string => `${file} of ConfigMap ${configMap}`;
  return {
    unserved: rest.filter(({ file }) => isUnserved(file)).map(say),
    unknown: rest.filter(({ file }) => !isUnserved(file)).map((one) => `${say(one)}: spec.declared has no such file`),
  };
}
