// The type of each named schema of the API's description: its text, and the file that holds it.
import type { Schema } from '#kernel/json-schema.ts';
import { comment, membersOf, typeOf } from './types.ts';

/** Named schemas by their names. */
export type Records = Record<string, Schema>;

/** A file of types, and the named schemas that it speaks of. */
export interface Speaker {
  file: string;
  names: readonly string[];
}

/** The file of records that several others speak of. */
export const SHARED = 'shared';

/** A record with fewer members is not told as the base of others. */
const LEAST_BASE = 5;

/** The file of each record: its one speaker's, or SHARED. */
export function placeRecords(speakers: readonly Speaker[], records: Records): Map<string, string> {
  const places = new Map<string, string>();
  for (const { file, names } of speakers)
    for (const name of closure(names, records)) places.set(name, places.has(name) ? SHARED : file);
  return places;
}

/** Those and all that their types are made of. */
function closure(names: readonly string[], records: Records): Set<string> {
  const found = new Set<string>();
  const waiting = [...names];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (found.has(name) || !records[name]) continue;
    found.add(name);
    const base = baseOf(name, records);
    waiting.push(...namesIn(records[name]), ...(base ? [base] : []));
  }
  return found;
}

/** Every named schema that a part of the description refers to. */
export const namesIn = (part: unknown): string[] =>
  [...JSON.stringify(part ?? null).matchAll(/"\$ref":"[^"]*\/(\w+)"/g)].map(([, name = '']) => name);

/** The type of a record, told by that of a smaller one where this holds all of it. */
export function recordType(name: string, records: Records): string {
  const schema = records[name] ?? {};
  const members = objectMembers(schema);
  const doc = `${comment(schema.description)}\n`;
  if (members.length === 0) return `${doc}export type ${name} = ${typeOf(schema)};\n`;
  const base = baseOf(name, records);
  const inherited = new Set(base ? objectMembers(records[base]) : []);
  const own = members.filter((member) => !inherited.has(member));
  return `${doc}export interface ${name}${base ? ` extends ${base}` : ''} {\n${own.join('\n')}\n}\n`;
}

/** The largest record whose every member is one of this record's too. */
function baseOf(name: string, records: Records): string | undefined {
  const own = new Set(objectMembers(records[name]));
  const smaller = Object.entries(records)
    .map(([base, schema]) => ({ base, members: objectMembers(schema) }))
    .filter(({ members }) => members.length >= LEAST_BASE && members.length < own.size);
  const bases = smaller.filter(({ members }) => members.every((member) => own.has(member)));
  bases.sort((a, b) => b.members.length - a.members.length);
  return bases[0]?.base;
}

const known = new WeakMap<Schema, string[]>();

/** Members of a plain object; none of another schema. */
function objectMembers(schema: Schema = {}): string[] {
  const members = known.get(schema) ?? (schema.type === 'object' && schema.properties ? membersOf(schema) : []);
  known.set(schema, members);
  return members;
}
