// The description of the API as plain facts that clients rely on, without texts, examples, errors and order.
import type { Schema } from '#kernel/json-schema.ts';
import type { Operation } from '../client/described.ts';

type Described = Operation & { 'x-permission'?: string; 'x-credentials'?: string[]; 'x-cast-ticket'?: boolean };

export interface Description {
  paths: Record<string, Record<string, Described>>;
  components?: { schemas?: Record<string, Schema> };
}

/** Of one operation or named schema. `>` marks facts of requests, `<` of responses. */
export interface Facts {
  name: string;
  /** Hold for ever. */
  keeps: string[];
  /** `[place, what]`: an existing place gets no new one. */
  demands: [string, string][];
  /** By place and end (`most`, `least`): never tighter. */
  bounds: Record<string, number>;
}

type Side = '>' | '<';

/** Each once, by name. */
export function surfaceOf({ paths, components }: Description): Facts[] {
  const records = components?.schemas ?? {};
  const surface = new Map<string, Facts>();
  const waiting: { name: string; side: Side }[] = [];
  const walked = new Set<string>();
  const writer = (name: string, side: Side): Writer => {
    const facts = surface.get(name) ?? { name, keeps: [], demands: [], bounds: {} };
    surface.set(name, facts);
    return new Writer(facts, side, (record) => waiting.push({ name: record, side }));
  };
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods)) {
      const request = writer(operation.operationId, '>');
      request.facts.keeps.push(`${method.toUpperCase()} ${path}`, ...rights(operation));
      writeRequest(request, operation);
      writeResponse(writer(operation.operationId, '<'), operation);
    }
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { name, side } = next;
    if (walked.has(`${side}${name}`)) continue;
    walked.add(`${side}${name}`);
    writer(name, side).write(records[name] ?? {}, '');
  }
  const all = [...surface.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return all.map((facts) => ({ ...facts, keeps: [...new Set(facts.keeps)].sort() }));
}

const rights = (operation: Described): string[] => [
  `permission ${operation['x-permission']}`,
  ...(operation['x-credentials'] ?? []).map((kind) => `credential ${kind}`),
  ...(operation['x-cast-ticket'] ? ['credential cast ticket'] : []),
];

function writeRequest(writer: Writer, { parameters = [], requestBody }: Described): void {
  for (const { in: part, name, required, schema } of parameters) {
    writer.member(schema, `${part}.${name}`, required ?? false);
  }
  if (!requestBody) return;
  if (requestBody.required) writer.facts.demands.push(['> body', 'required']);
  for (const [media, { schema }] of Object.entries(requestBody.content)) {
    writer.facts.keeps.push(`takes ${media}`);
    writer.write(schema, 'body');
  }
}

function writeResponse(writer: Writer, { responses }: Described): void {
  for (const [status, { content = {} }] of Object.entries(responses)) {
    if (!status.startsWith('2')) continue;
    writer.facts.keeps.push(`answers ${status}`);
    for (const [media, { schema = {} }] of Object.entries(content)) {
      writer.facts.keeps.push(`answers ${status} ${media}`);
      writer.write(schema, 'answer');
    }
  }
}

const recordOf = ($ref: string): string => $ref.slice($ref.lastIndexOf('/') + 1);

class Writer {
  readonly facts: Facts;
  readonly #side: Side;
  readonly #uses: (record: string) => void;

  constructor(facts: Facts, side: Side, uses: (record: string) => void) {
    this.facts = facts;
    this.#side = side;
    this.#uses = uses;
  }

  /** All facts of a schema at the place. */
  write(schema: Schema, at: string): void {
    const place = `${this.#side} ${at}`;
    const choices = alternatives(schema);
    const words = [...new Set(choices.map((one) => kindOf(one, this.#side)))].sort();
    this.facts.keeps.push(
      ...(this.#side === '<' ? [`${place} is ${words.join('|')}`] : words.map((word) => `${place} is ${word}`)),
    );
    for (const choice of choices) this.#inside(choice, at);
  }

  /** A member: responses keep it, and requests never begin to require it. */
  member(schema: Schema, at: string, required: boolean): void {
    const place = `${this.#side} ${at}`;
    if (required && this.#side === '<') this.facts.keeps.push(`${place} always`);
    if (required && this.#side === '>') this.facts.demands.push([place, 'required']);
    this.write(schema, at);
  }

  #inside(schema: Schema, at: string): void {
    if (schema.$ref) this.#uses(recordOf(schema.$ref));
    const { properties = {}, required = [], additionalProperties, items, prefixItems = [] } = schema;
    if (this.#side === '>') this.#narrow(schema, `> ${at}`);
    for (const [name, member] of Object.entries(properties))
      this.member(member, `${at}.${name}`, required.includes(name));
    if (typeof additionalProperties === 'object') this.write(additionalProperties, `${at}.*`);
    if (items) this.write(items, `${at}[]`);
    for (const [index, item] of prefixItems.entries()) this.write(item, `${at}[${index}]`);
  }

  #narrow(schema: Schema, place: string): void {
    const { bounds, demands, keeps } = this.facts;
    const most = schema.maximum ?? schema.maxLength ?? schema.maxItems;
    const least = schema.minimum ?? schema.minLength ?? schema.minItems;
    if (most !== undefined) bounds[`${place} most`] = most;
    if (least !== undefined) bounds[`${place} least`] = least;
    for (const what of [schema.format, schema.pattern]) if (what) demands.push([place, what]);
    for (const value of valuesOf(schema)) keeps.push(`${place} takes ${JSON.stringify(value)}`);
  }
}

const valuesOf = (schema: Schema): unknown[] => ('const' in schema ? [schema.const] : (schema.enum ?? []));

function alternatives(schema: Schema): Schema[] {
  const parts = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (parts) return parts.flatMap((part) => alternatives(part));
  return Array.isArray(schema.type) ? schema.type.map((type) => ({ ...schema, type })) : [schema];
}

/** The kind of an enum. In requests its values are facts; responses may get new values. */
function kindOf(schema: Schema, side: Side): string {
  if (schema.$ref) return recordOf(schema.$ref);
  const values = valuesOf(schema);
  if (values.length === 0) return String(schema.type ?? 'anything');
  return side === '>'
    ? 'one of'
    : [...new Set(values.map((value) => (value === null ? 'null' : typeof value)))].join('|');
}
