// Which file of api/client/areas holds each named schema.
import { namesIn, type Placed, type Records, successOf } from './described.ts';
import { baseOf, sharedNames } from './records.ts';
import { PAGE_QUERY, type WithRequests } from './requests.ts';

/** The file of each name, as `items`. */
export type Files = ReadonlyMap<string, string>;

/** A file, and the named schemas that it uses. */
export interface User {
  file: string;
  names: readonly string[];
}

/** The file of the types that several files use. */
export const SHARED = 'shared';

/** The one file that uses the name, or SHARED. */
export function filesOf({ areas, records }: WithRequests, others: readonly User[]): Files {
  const users = [...areas.map(({ slug, operations }) => ({ file: slug, names: namesOf(operations) })), ...others];
  const files = new Map<string, string>();
  for (const { file, names } of users)
    for (const name of closure(names, records)) files.set(name, (files.get(name) ?? file) === file ? file : SHARED);
  for (const name of [...sharedNames, PAGE_QUERY]) files.set(name, SHARED);
  return files;
}

/** The named schemas of requests and responses. */
const namesOf = (operations: readonly Placed[]): string[] =>
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
