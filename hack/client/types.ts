// TypeScript types of the schemas in the API's description: what the typed client needs of JSON Schema, no more.

import type { Schema } from '#kernel/json-schema.ts';

const PLAIN: Record<string, string> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
};

/** Each once, and no literal beside the type that holds it. */
function union(parts: readonly string[]): string {
  const all = new Set(parts.flatMap((part) => (/[{(<[]/.test(part) ? [part] : part.split(' | '))));
  const said = [...all].filter((part) => !(all.has('string') && part.startsWith('"')));
  return said.join(' | ') || 'never';
}

const literals = (values: readonly unknown[]): string => union(values.map((value) => JSON.stringify(value)));
const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1);
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

/** Members of an object's type, each with its description. */
export function membersOf({ properties = {}, required = [] }: Schema): string[] {
  return Object.entries(properties).map(([name, member]) => {
    const told = comment(member.description);
    return `${told}${memberName(name)}${required.includes(name) ? '' : '?'}: ${typeOf(member)};`;
  });
}

/** A doc comment before what follows on the line, or nothing. */
export const comment = (text: string | undefined): string =>
  text ? `/** ${text.replaceAll('*/', '* /').replaceAll('\n', ' ')} */ ` : '';
