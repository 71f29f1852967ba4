// TypeScript types of the schemas in the API's description: the parts of JSON Schema that the typed client needs.
import type { Schema } from '#kernel/json-schema.ts';
import { nameOf } from './described.ts';

const PLAIN: Record<string, string> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
};

/** Each part once; named texts next to other texts become `string`. */
function union(parts: readonly string[]): string {
  const all = new Set(parts.flatMap((part) => (/[{(<[]/.test(part) ? [part] : part.split(' | '))));
  const open = ['string', ...Object.values(NAMED_TEXTS)];
  const texts = [...all].filter((part) => open.includes(part) || part.startsWith('"'));
  const plain = texts.length > 1 && texts.some((text) => open.includes(text));
  const kept = plain ? ['string', ...[...all].filter((part) => !texts.includes(part))] : [...all];
  return kept.join(' | ') || 'never';
}

const literals = (values: readonly unknown[]): string => union(values.map((value) => JSON.stringify(value)));

/** Named texts, by their description. */
const NAMED_TEXTS: Record<string, string> = { UUIDv7: 'Uuid', 'ISO 8601, UTC, milliseconds': 'Instant' };
const textName = ({ description = '', type }: Schema): string | undefined =>
  type === 'string' ? NAMED_TEXTS[description] : undefined;
const memberName = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));
const grouped = (text: string): string => (text.includes(' | ') || text.includes(' & ') ? `(${text})` : text);

/** The type of the schema. */
export function typeOf(schema: Schema | boolean | undefined): string {
  if (schema === undefined || typeof schema === 'boolean') return 'unknown';
  if (schema.$ref) return nameOf(schema.$ref);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return union(choices.map((choice) => typeOf(choice)));
  if (schema.allOf) return schema.allOf.map((part) => grouped(typeOf(part))).join(' & ');
  if ('const' in schema) return literals([schema.const]);
  if (schema.enum) return literals(schema.enum);
  const text = textName(schema);
  if (text) return text;
  const types = Array.isArray(schema.type) ? schema.type : [schema.type ?? 'unknown'];
  return union(types.map((type) => ofKind(type, schema)));
}

function ofKind(type: string, schema: Schema): string {
  if (type === 'object') return objectType(schema);
  if (type === 'array') return arrayType(schema);
  return PLAIN[type] ?? 'unknown';
}

function arrayType({ items, prefixItems }: Schema): string {
  if (prefixItems) return `[${prefixItems.map((item) => typeOf(item)).join(', ')}]`;
  return `${grouped(typeOf(items))}[]`;
}

function objectType(schema: Schema): string {
  const { properties, additionalProperties, propertyNames } = schema;
  if (!properties) {
    const value = typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown';
    const key = propertyNames ? typeOf(propertyNames) : 'string';
    return key === 'string' ? `Record<string, ${value}>` : `Partial<Record<${key}, ${value}>>`;
  }
  return objectOf(membersOf(schema));
}

/** The type of an object with these members; on lines of their own where one is documented. */
export function objectOf(members: readonly string[]): string {
  if (members.length === 0) return 'object';
  const start = members.some((member) => member.includes('/**')) ? '\n' : ' ';
  return `{${start}${members.join('\n')} }`;
}

/** One member of an object's type. */
export interface Member {
  name: string;
  optional: boolean;
  type: string;
  doc: string;
}

export function membersWith({ properties = {}, required = [] }: Schema): Member[] {
  return Object.entries(properties).map(([name, member]) => ({
    name: memberName(name),
    optional: !required.includes(name),
    type: typeOf(member),
    doc: comment(textName(member) ? '' : member.description),
  }));
}

export const memberText = ({ name, optional, type, doc }: Member): string =>
  `${doc}${name}${optional ? '?' : ''}: ${type};`;

/** Members of an object's type, each with its description. */
export const membersOf = (schema: Schema): string[] => membersWith(schema).map(memberText);

/** A doc comment before what follows on the line, or nothing. */
export const comment = (text: string | undefined): string =>
  text ? `/** ${text.replaceAll('*/', '* /').replaceAll('\n', ' ')} */ ` : '';
