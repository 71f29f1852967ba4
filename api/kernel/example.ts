import { createHash } from 'node:crypto';
import type { Schema, Schemas } from './json-schema.ts';

/** Where a value goes: the member's name, which ids are made of, and the records that are being filled. */
interface Place {
  name: string;
  inside: readonly string[];
}

/** An example of the schema: what its members' `.meta({ example })` say, and plain values of their types otherwise. */
export function exampleOf(schema: Schema, schemas: Schemas): unknown {
  return new Filler(schemas).fill(schema, { name: '', inside: [] });
}

interface Media {
  schema?: Schema;
  example?: unknown;
}

interface Described {
  requestBody?: { content: Record<string, Media> };
  responses?: Record<string, { content?: Record<string, Media> }>;
}

/** Into each operation of a description, what it takes and what its success answers; bytes have none. */
export function addExamples(paths: Record<string, Record<string, Described>>, schemas: Schemas): void {
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    const { requestBody, responses = {} } = operation;
    const successes = Object.keys(responses).filter((status) => status.startsWith('2'));
    const contents = [requestBody?.content, ...successes.map((status) => responses[status]?.content)];
    for (const [type, media] of contents.flatMap((content) => Object.entries(content ?? {}))) {
      const example = mediaExample(type, media.schema, schemas);
      if (example !== undefined) media.example = example;
    }
  }
}

const RECORDS = new Set(['application/json', 'application/x-www-form-urlencoded']);

function mediaExample(type: string, schema: Schema = {}, schemas: Schemas): unknown {
  if (schema.type === 'string') return textsByMedia[type];
  return RECORDS.has(type) ? exampleOf(schema, schemas) : undefined;
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
    if (schema.enum) return schema.enum[0];
    if (schema.allOf) return Object.assign({}, ...schema.allOf.map((part) => this.fill(part, place)));
    const choices = schema.anyOf ?? schema.oneOf ?? [];
    return choices.length > 0 ? this.fill(choice(choices, place), place) : this.#ofType(schema, place);
  }

  #record(name: string, { inside, ...place }: Place): unknown {
    return this.fill(this.#schemas[name] ?? {}, { ...place, inside: [...inside, name] });
  }

  #ofType(schema: Schema, place: Place): unknown {
    const types = [schema.type ?? 'object'].flat();
    const type =
      types[0] === 'string' && types.includes('null') && isFreeText({ ...schema, type: 'string' }) ? 'null' : types[0];
    const byType: Record<string, () => unknown> = {
      object: () => this.#object(schema, place),
      array: () => this.#array(schema, place),
      string: () => textOf(schema, place),
      boolean: () => false,
      null: () => null,
    };
    return (byType[type ?? ''] ?? (() => Math.max(schema.minimum ?? 0, Math.min(1, schema.maximum ?? 1))))();
  }

  #object({ properties = {}, required = [], ...rest }: Schema, place: Place): unknown {
    const shown = Object.entries(properties).filter(([name, member]) => required.includes(name) || hasExample(member));
    const made = Object.fromEntries(shown.map(([name, member]) => [name, this.fill(member, { ...place, name })]));
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

/** Optional members are shown where their schema has an example. */
const hasExample = (schema: Schema): boolean => 'example' in schema || (schema.anyOf ?? []).some(hasExample);

/** Null where it may be, unless there is something to show. */
function choice(choices: readonly Schema[], { inside }: Place): Schema {
  const nothing = choices.find(({ type }) => type === 'null');
  const shown = choices.find((one) => one !== nothing && !holds(one, inside) && !(nothing && isFreeText(one)));
  return shown ?? nothing ?? choices[0] ?? {};
}

const isFreeText = (schema: Schema): boolean =>
  schema.type === 'string' && !schema.format && !schema.enum && !('example' in schema);

/** The same id for the same member. */
function idFor(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  return `01977c2e-5a00-7${hex.slice(0, 3)}-8${hex.slice(3, 6)}-${hex.slice(6, 18)}`;
}

const FORMATS: Record<string, (name: string) => string> = {
  uuid: idFor,
  'date-time': () => '2026-11-21T20:15:00.000Z',
  date: () => '1922-03-04',
  uri: () => 'https://media.example/',
  email: () => 'ada@media.example',
};

/** Stands where a schema of free text has no example; a test finds it. */
export const NO_EXAMPLE = 'no example';

const textOf = ({ format = '', minLength = 0, maxLength }: Schema, { name }: Place): string =>
  (FORMATS[format]?.(name) ?? NO_EXAMPLE).padEnd(minLength, '.').slice(0, maxLength);

/** Answers that are text of a kind, by their media types. */
export const textsByMedia: Readonly<Record<string, string>> = {
  'application/vnd.apple.mpegurl':
    '#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-STREAM-INF:BANDWIDTH=6000000,RESOLUTION=1440x1080\nv0/playlist.m3u8\n',
  'application/x-ndjson': '{"title":"Nosferatu","year":1922}\n',
  'text/css': ':root{--fy-radius-card:8px}:root,[data-scheme="dark"]{--fy-color-surface-0:#0c0d11}\n',
  'text/csv': 'title,year\r\nNosferatu,1922\r\n',
  'text/event-stream':
    'id: 1763756100000-0\nevent: settings.changed\ndata: {"id":"1763756100000-0","event":"settings.changed","at":"2026-11-21T20:15:00.000Z","payload":{"keys":["metadata.language"]}}\n\n',
  'text/html': '<!doctype html><title>Foyer</title>',
  'text/plain': 'Nosferatu is in Films',
  'text/x-ssa': '[Events]\nFormat: Layer, Start, End, Style, Text\nDialogue: 0,0:00:01.00,0:00:03.00,Default,Wisborg\n',
  'text/vtt': 'WEBVTT\n\n00:00:01.000 --> 00:00:03.000\nWisborg, 1838\n',
};
