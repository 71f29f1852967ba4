// Which file of api/client holds each named schema.
import { type DescribedArea, namesIn, type Records, successOf } from './described.ts';
import { baseOf, wordNames } from './records.ts';
import { type Folder, PAGE_QUERY, type WithRequests } from './requests.ts';

/** The file of each name, as `records/items`. */
export type Files = ReadonlyMap<string, string>;

/** A file of types, and the named schemas that it uses. */
export interface Speaker {
  file: string;
  names: readonly string[];
}

/** The files of types that several others use: records, and types without members. */
const SHARED = 'shared';
export const WORDS_FILE = 'records/words';

/** Named for the one area or file that uses it, or SHARED; in the folder of its kind. */
export function filesOf({ areas, records, folders }: WithRequests, others: readonly Speaker[]): Files {
  const speakers = [...others, ...areas.map((area) => ({ file: area.slug, names: spokenOf(area) }))];
  const files = new Map<string, string>();
  for (const { file, names } of speakers)
    for (const name of closure(names, records)) files.set(name, files.has(name) ? SHARED : file);
  const named = new Set(speakers.flatMap(({ names }) => names));
  const folderOf = folderFinder(records, folders, named);
  const pathOf = (name: string, file: string): string => {
    if (file !== SHARED) return `${folderOf(name)}/${file}`;
    return records[name]?.properties ? `records/${SHARED}` : WORDS_FILE;
  };
  return new Map([
    ...[...files].map(([name, file]): [string, string] => [name, pathOf(name, file)]),
    ...[...wordNames, PAGE_QUERY].map((name): [string, string] => [name, WORDS_FILE]),
  ]);
}

/** The named schemas of requests and responses. */
const spokenOf = ({ operations }: DescribedArea): string[] =>
  operations.flatMap(({ operation: { parameters, requestBody, responses } }) =>
    namesIn([parameters, requestBody, successOf(responses)]),
  );

/** Those, and all named schemas inside them. */
function closure(names: readonly string[], records: Records): Set<string> {
  const found = new Set<string>();
  const waiting = [...names];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (found.has(name) || !records[name]) continue;
    found.add(name);
    waiting.push(...partsOf(name, records));
  }
  return found;
}

function partsOf(name: string, records: Records): string[] {
  const base = baseOf(name, records)?.name;
  return [...namesIn(records[name]), ...(base ? [base] : [])];
}

/** Schemas that only responses use are written with them, and so for requests; schemas that operations name are records. */
function folderFinder(
  records: Records,
  folders: ReadonlyMap<string, Folder>,
  named: ReadonlySet<string>,
): (name: string) => Folder {
  const wholes = new Map<string, string[]>();
  for (const whole of Object.keys(records))
    for (const part of partsOf(whole, records)) wholes.set(part, [...(wholes.get(part) ?? []), whole]);
  const known = new Map(folders);
  const folderOf = (name: string): Folder => {
    const of = known.get(name);
    if (of) return of;
    known.set(name, 'records'); // for a schema that contains itself
    const over = new Set((wholes.get(name) ?? []).map(folderOf));
    const [only = 'records'] = over;
    const folder = over.size === 1 && !named.has(name) ? only : 'records';
    known.set(name, folder);
    return folder;
  };
  return folderOf;
}
