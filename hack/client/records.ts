// The type of each named schema of the API's description.
import type { Schema } from '#kernel/json-schema.ts';
import type { Records } from './described.ts';
import { PAGE_QUERY } from './requests.ts';
import { comment, type Member, membersWith, memberText, typeOf } from './types.ts';

/** Types of the file of shared types that are no records. */
export const SHARED_TYPES = `/** A UUIDv7 */
export type Uuid = string;

/** ISO 8601, UTC, milliseconds */
export type Instant = string;

/** Of an address: several are joined by commas */
export type Words = string | readonly string[];

/** A part of a list, and where it goes on */
export interface PageOf<T> {
  items: T[];
  page: Page;
}
`;
/** The names in that text, and the record of a page in it. */
export const sharedNames = ['Uuid', 'Instant', 'Words', 'PageOf', 'Page'];

/** With fewer common members, a record does not extend another. */
const LEAST_COMMON = 5;
const MOST_LEFT_OUT = 2;

/** The type of a record; it extends a smaller record that it shares most members with. */
export function recordType(name: string, records: Records): string {
  const schema = records[name] ?? {};
  const doc = `${comment(schema.description)}\n`;
  const members = objectMembers(schema);
  if (members.length === 0) return `${doc}export type ${name} = ${typeOf(schema)};\n`;
  const base = baseOf(name, records);
  const own = members.filter((member) => !base?.common.has(memberText(member)));
  const head = `export interface ${name}${base ? ` extends ${base.text}` : ''}`;
  return own.length === 0
    ? `${doc}export type ${name} = ${base?.text};\n`
    : `${doc}${head} {\n${own.map(memberText).join('\n')}\n}\n`;
}

export interface Base {
  name: string;
  text: string;
  /** Members as source text. */
  common: ReadonlySet<string>;
}

const bases = new WeakMap<Schema, Base | undefined>();

/** The record that this one extends. */
export function baseOf(name: string, records: Records): Base | undefined {
  const schema = records[name] ?? {};
  if (!bases.has(schema)) bases.set(schema, foundBase(name, records));
  return bases.get(schema);
}

/** The record with most common members; never a larger one, so that no two extend each other. */
function foundBase(name: string, records: Records): Base | undefined {
  const own = objectMembers(records[name]);
  const found = Object.keys(records)
    .filter((base) => isBefore(base, name, records))
    .map((base) => asBase(base, objectMembers(records[base]), own))
    .filter((base) => base !== undefined);
  found.sort((a, b) => b.common.size - a.common.size || a.text.length - b.text.length);
  return found[0];
}

function isBefore(base: string, name: string, records: Records): boolean {
  const [smaller, larger] = [objectMembers(records[base]).length, objectMembers(records[name]).length];
  return smaller < larger || (smaller === larger && base < name);
}

/** The members of the base that are kept, and those omitted because they differ here. */
function asBase(name: string, members: readonly Member[], own: readonly Member[]): Base | undefined {
  const byName = new Map(own.map((member) => [member.name, member]));
  const texts = new Set(own.map(memberText));
  const common = new Set(members.map(memberText).filter((text) => texts.has(text)));
  const out = members.filter((member) => !agrees(byName.get(member.name), member)).map((member) => member.name);
  const least = name === PAGE_QUERY ? members.length : LEAST_COMMON;
  if (common.size < least || out.length > MOST_LEFT_OUT) return undefined;
  const left = out.map((one) => `'${one}'`).join(' | ');
  return { name, common, text: left ? `Omit<${name}, ${left}>` : name };
}

/** An interface may repeat an inherited member, also as required. */
const agrees = (own: Member | undefined, base: Member): boolean =>
  own !== undefined && own.type === base.type && (base.optional || !own.optional);

const known = new WeakMap<Schema, Member[]>();

/** Members of a plain object; none of another schema. */
function objectMembers(schema: Schema = {}): Member[] {
  const members = known.get(schema) ?? (schema.type === 'object' && schema.properties ? membersWith(schema) : []);
  known.set(schema, members);
  return members;
}
