import { createHash } from 'node:crypto';
import type { Schema, Schemas } from '../json-schema.ts';
import { textsByMedia, unset, values } from './values.ts';

/** Where a value goes. */
interface Place {
  /** Of the member. */
  name: string;
  /** The record or operation that has it. */
  owner: string;
  /** Records that are being filled: none holds itself. */
  inside: readonly string[];
}

/** A value of the schema as people meet it, the same each time; `operationId` takes or answers it. */
export function exampleOf(schema: Schema, schemas: Schemas, operationId: string): unknown {
  return new Filler(schemas).fill(schema, { name: '', owner: operationId, inside: [] });
}

interface Media {
  schema?: Schema;
  example?: unknown;
}

interface Described {
  operationId?: string;
  requestBody?: { content: Record<string, Media> };
  responses?: Record<string, { content?: Record<string, Media> }>;
}

/** Into each operation of a description, what it takes and what its success answers; bytes have none. */
export function addExamples(paths: Record<string, Record<string, Described>>, schemas: Schemas): void {
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    const { operationId = '', requestBody, responses = {} } = operation;
    const successes = Object.keys(responses).filter((status) => status.startsWith('2'));
    const contents = [requestBody?.content, ...successes.map((status) => responses[status]?.content)];
    for (const [type, media] of contents.flatMap((content) => Object.entries(content ?? {}))) {
      const example = mediaExample(type, media.schema, { schemas, operationId });
      if (example !== undefined) media.example = example;
    }
  }
}

const RECORDS = new Set(['application/json', 'application/x-www-form-urlencoded']);

function mediaExample(type: string, schema: Schema = {}, of: { schemas: Schemas; operationId: string }): unknown {
  if (schema.type === 'string') return textsByMedia[type];
  return RECORDS.has(type) ? exampleOf(schema, of.schemas, of.operationId) : undefined;
}

class Filler {
  readonly #schemas: Schemas;
  constructor(schemas: Schemas) {
    this.#schemas = schemas;
  }

  fill(schema: Schema, place: Place): unknown {
    if ('example' in schema) return schema.example;
    if (schema.$ref) return this.#record(nameOf(schema.$ref), place);
    if ('const' in schema) return schema.const;
    if (schema.enum) return literal(schema.enum, place);
    if (schema.allOf) return Object.assign({}, ...schema.allOf.map((part) => this.fill(part, place)));
    const choices = schema.anyOf ?? schema.oneOf ?? [];
    return choices.length > 0 ? this.fill(choice(choices, place), place) : this.#ofType(schema, place);
  }

  #record(name: string, { inside, ...place }: Place): unknown {
    const schema = this.#schemas[name] ?? {};
    const owner = schema.properties ? name : place.owner;
    return this.fill(schema, { ...place, owner, inside: [...inside, name] });
  }

  #ofType(schema: Schema, place: Place): unknown {
    const types = [schema.type ?? 'object'].flat();
    const type = types.includes('null') && isRare(place) ? 'null' : types[0];
    const byType: Record<string, () => unknown> = {
      object: () => valueFor(place, 'object') ?? this.#object(schema, place),
      array: () => this.#array(schema, place),
      string: () => textOf(schema, place),
      boolean: () => valueFor(place, 'boolean') ?? false,
      null: () => null,
    };
    return (byType[type ?? ''] ?? (() => numberOf(schema, place)))();
  }

  #object({ properties = {}, required = [], ...rest }: Schema, place: Place): unknown {
    const wanted = Object.entries(properties).filter(
      ([name, member]) =>
        required.includes(name) || (('example' in member || told({ ...place, name })) && !holds(member, place.inside)),
    );
    const made = Object.fromEntries(wanted.map(([name, member]) => [name, this.fill(member, { ...place, name })]));
    const { propertyNames: names = {}, additionalProperties: each } = rest;
    const key = names.enum || names.$ref ? this.fill(names, place) : undefined;
    if (typeof key !== 'string' || typeof each !== 'object') return made;
    return { ...made, [key]: this.fill(each, place) };
  }

  #array({ items, prefixItems }: Schema, place: Place): unknown[] {
    if (prefixItems) return prefixItems.map((item) => this.fill(item, place));
    return items && !holds(items, place.inside) ? [this.fill(items, place)] : [];
  }
}

const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1);

/** Whether a record that is being filled would begin again. */
function holds({ $ref, anyOf = [], items }: Schema, inside: readonly string[]): boolean {
  if ($ref && inside.includes(nameOf($ref))) return true;
  return [...anyOf, ...(items ? [items] : [])].some((part) => holds(part, inside));
}

/** Optional members are there where the table has something for them. */
const told = (place: Place): boolean =>
  `${place.owner}.${place.name}` in values || (place.name in values && !isRare(place));

/** What the table has for the member of this record, or for all members of the name. */
function valueFor(place: Place, type: string): unknown {
  const { owner, name } = place;
  return [values[`${owner}.${name}`], values[name]].find((value) => typeof value === type);
}

function literal(all: readonly unknown[], { owner, name }: Place): unknown {
  return [values[`${owner}.${name}`], values[name]].find((value) => all.includes(value)) ?? all[0];
}

/** Where a value would tell of something unusual. */
const isRare = ({ owner, name }: Place): boolean => unset.has(name) || unset.has(`${owner}.${name}`);

function choice(choices: readonly Schema[], place: Place): Schema {
  const nothing = choices.find(({ type }) => type === 'null');
  const rare = isRare(place) || choices.some((one) => holds(one, place.inside));
  return (rare && nothing) || (choices.find((one) => one !== nothing) ?? {});
}

/** The same id for the same member. */
function idFor(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  return `01977c2e-5a00-7${hex.slice(0, 3)}-8${hex.slice(3, 6)}-${hex.slice(6, 18)}`;
}

const LATER = /(expires|until|ends|next|purge|due)/i;

const FORMATS: Record<string, (name: string) => string> = {
  uuid: idFor,
  'date-time': (name) => (LATER.test(name) ? '2026-12-24T20:15:00.000Z' : '2026-11-21T20:15:00.000Z'),
  date: () => '1922-03-04',
  uri: () => 'https://media.example/',
  email: () => 'ada@media.example',
};

function textOf({ format = '', pattern, minLength = 0, maxLength }: Schema, place: Place): string {
  const { name } = place;
  const id = name === 'id' || /Ids?$/.test(name);
  const plain = FORMATS[format]?.(name) ?? (id ? idFor(name) : name);
  const known = valueFor(place, 'string');
  const fits = typeof known === 'string' && (!pattern || new RegExp(pattern, 'u').test(known));
  return (fits ? known : plain).padEnd(minLength, '.').slice(0, maxLength);
}

function numberOf({ minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: Schema, place: Place): number {
  const known = valueFor(place, 'number');
  return Math.min(maximum, Math.max(minimum, typeof known === 'number' ? known : 1));
}
