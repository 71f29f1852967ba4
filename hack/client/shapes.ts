// Shapes that the API's description repeats in several places, each under one name.
import type { Schema } from '#kernel/json-schema.ts';
import { type Described, nameOf, type Operation, type Records, refTo, successOf } from './described.ts';
import { namedShapes } from './names.ts';
import { typeOf } from './types.ts';

/** A repeated shape with at least this many members or values needs a name. */
const LEAST_MEMBERS = 3;
const LEAST_VALUES = 4;

type Change = (schema: Schema) => Schema;

/** The schema with each of its parts changed. */
function withParts(schema: Schema, change: Change): Schema {
  const { properties, items, additionalProperties, propertyNames } = schema;
  const lists = (['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const).flatMap((key) => {
    const parts = schema[key];
    return parts ? [[key, parts.map(change)]] : [];
  });
  return {
    ...schema,
    ...Object.fromEntries(lists),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, change(member)])),
    }),
    ...(items && { items: change(items) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: change(additionalProperties) }),
    ...(propertyNames && { propertyNames: change(propertyNames) }),
  };
}

/** The description with each schema of requests and responses changed. */
export function withSchemas({ areas, records }: Described, change: Change): Described {
  const contentOf = (content: Record<string, { schema: Schema }>) =>
    Object.fromEntries(Object.entries(content).map(([media, { schema }]) => [media, { schema: change(schema) }]));
  const changed = (operation: Operation): Operation => ({
    ...operation,
    ...(operation.parameters && {
      parameters: operation.parameters.map((one) => ({ ...one, schema: change(one.schema) })),
    }),
    ...(operation.requestBody && {
      requestBody: { ...operation.requestBody, content: contentOf(operation.requestBody.content) },
    }),
    responses: { 200: { ...successOf(operation.responses), ...responseWith(operation, contentOf) } },
  });
  return {
    areas: areas.map(({ slug, operations }) => ({
      slug,
      operations: operations.map((placed) => ({ ...placed, operation: changed(placed.operation) })),
    })),
    records: Object.fromEntries(Object.entries(records).map(([name, schema]) => [name, withParts(schema, change)])),
  };
}

function responseWith(
  { responses }: Operation,
  contentOf: (content: Record<string, { schema: Schema }>) => Record<string, { schema: Schema }>,
): { content?: Record<string, { schema: Schema }> } {
  const content = successOf(responses)?.content;
  return content ? { content: contentOf(content) } : {};
}

/** The shape of a schema, equal for schemas that callers need not distinguish: without texts, bounds and order of values. */
const shapeOf = (schema: Schema): string => typeOf(bare(schema));

function bare(schema: Schema): Schema {
  const { description: _, ...rest } = withParts(schema, bare);
  return { ...rest, ...(rest.enum && { enum: rest.enum.map(String).sort() }) };
}

type At = readonly [place: string, schema: Schema];

/** Every inline object and enum, by its place. */
function* inlineShapes(schema: Schema, place: string): Generator<At> {
  if (schema.$ref) return;
  if (schema.properties || schema.enum) yield [place, schema];
  for (const [name, member] of Object.entries(schema.properties ?? {})) yield* inlineShapes(member, `${place}.${name}`);
  for (const key of ['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const)
    for (const part of schema[key] ?? []) yield* inlineShapes(part, place);
  if (schema.items) yield* inlineShapes(schema.items, `${place}[]`);
  if (typeof schema.additionalProperties === 'object') yield* inlineShapes(schema.additionalProperties, `${place}{}`);
}

function* everyShape({ areas, records }: Described): Generator<At> {
  for (const [name, schema] of Object.entries(records)) yield* inlineShapes(schema, name);
  for (const { operation } of areas.flatMap(({ operations }) => operations)) {
    const { operationId, parameters = [], requestBody, responses } = operation;
    for (const { in: part, name, schema } of parameters) yield* inlineShapes(schema, `${operationId}.${part}.${name}`);
    const body = requestBody?.content['application/json'];
    if (body) yield* inlineShapes(body.schema, `${operationId}.body`);
    const response = successOf(responses)?.content?.['application/json'];
    if (response) yield* inlineShapes(response.schema, `${operationId}.response`);
  }
}

/** Records that are equal in requests and responses, under one name. */
function withoutTwins(description: Described): Described {
  const { records } = description;
  const twin = (name: string): string => {
    const single = name.replace(/Output$/, '');
    const [one, other] = [records[single], records[name]];
    return one && other && shapeOf(one) === shapeOf(other) ? single : name;
  };
  const single: Change = (schema) =>
    schema.$ref ? refTo(twin(nameOf(schema.$ref)), schema) : withParts(schema, single);
  const changed = withSchemas(description, single);
  const kept = Object.entries(changed.records).filter(([name]) => twin(name) === name);
  return { ...changed, records: Object.fromEntries(kept) };
}

/** The description with each shape of `namedShapes` in a record of its own. Throws for a name that names nothing. */
export function withNamedShapes(whole: Described): Described {
  const description = withoutTwins(whole);
  const shapes = new Map(everyShape(description));
  const chosen = Object.entries(namedShapes).map(([name, { at, doc }]) => {
    const schema = shapes.get(at);
    if (!schema) throw new Error(`hack/client/names.ts: ${name}: nothing is at ${at}`);
    const { description: _, ...rest } = schema;
    return { name, shape: shapeOf(schema), schema: doc ? { ...rest, description: doc } : rest };
  });
  const names = new Map(chosen.map(({ name, shape }) => [shape, name]));
  const named: Change = (schema) => {
    const name = schema.properties || schema.enum ? names.get(shapeOf(schema)) : undefined;
    return name ? refTo(name, schema) : withParts(schema, named);
  };
  const own: Records = Object.fromEntries(chosen.map(({ name, schema }) => [name, withParts(schema, named)]));
  const { areas, records } = withSchemas(description, named);
  return { areas, records: { ...records, ...own } };
}

/** Throws for a large shape that occurs in several places without a name. Queries always have the name of their operation. */
export function expectNoRepeats(description: Described): void {
  const large = [...everyShape(description)].filter(([place, schema]) => isLarge(schema) && !/^\w+Query$/.test(place));
  const repeats = [...Map.groupBy(large, ([, schema]) => shapeOf(schema)).values()].filter(({ length }) => length > 1);
  const unnamed = repeats.map((places) => places.map(([place]) => place).join(' and '));
  if (unnamed.length > 0) throw new Error(`hack/client/names.ts: no name for the shape at ${unnamed.join('; at ')}`);
}

const isLarge = ({ properties, enum: values }: Schema): boolean =>
  Object.keys(properties ?? {}).length >= LEAST_MEMBERS || (values?.length ?? 0) >= LEAST_VALUES;
