// Requests and responses of operations as records: `createUser` has CreateUserBody, `listUsers` ListUsersQuery.
import type { Schema } from '#kernel/json-schema.ts';
import { type Described, type Operation, type Parameter, type Records, refTo, successOf } from './described.ts';

export interface WithRequests extends Described {
  /** Records of one operation, in the order of operations. */
  own: ReadonlySet<string>;
}

/** The part of every list's query. */
export const PAGE_QUERY = 'PageQuery';

/** The parts of each operation named; a query is the one parameter `query`. Throws where a name is taken. */
export function withRequests({ areas, records }: Described): WithRequests {
  const own: Records = { [PAGE_QUERY]: PAGE };
  const add = (name: string, schema: Schema): Schema => {
    if (records[name] ?? own[name]) throw new Error(`hack/client: two schemas are called ${name}`);
    own[name] = schema;
    return refTo(name);
  };
  const named = areas.map(({ slug, operations }) => ({
    slug,
    operations: operations.map((placed) => ({ ...placed, operation: operationWith(placed.operation, add) })),
  }));
  return { areas: named, records: { ...records, ...own }, own: new Set(Object.keys(own)) };
}

const WORDS = refTo('Words');
const PAGE: Schema = {
  type: 'object',
  description: 'Which part of a list',
  properties: { limit: { type: 'integer' }, cursor: WORDS },
};

type Add = (name: string, schema: Schema) => Schema;

function operationWith(operation: Operation, add: Add): Operation {
  const { operationId, parameters = [], requestBody, responses } = operation;
  const name = operationId.replace(/^\w/, (letter) => letter.toUpperCase());
  const queries = parameters.filter((one) => one.in === 'query');
  const query = queries.length > 0 && add(`${name}Query`, queryOf(operationId, queries));
  const body = requestBody?.content['application/json']?.schema;
  const response = successOf(responses)?.content?.['application/json']?.schema;
  return {
    ...operation,
    parameters: [
      ...parameters.filter((one) => one.in === 'path'),
      ...(query ? [{ in: 'query', name: 'query', required: queries.some((one) => one.required), schema: query }] : []),
    ],
    ...(requestBody &&
      body &&
      needsName(body) && {
        requestBody: withJson(requestBody, add(`${name}Body`, described(body, `Body of ${operationId}`))),
      }),
    ...(response &&
      needsName(response) &&
      !isPage(response) && {
        responses: {
          200: withJson({ content: {} }, add(`${name}Response`, described(response, `Response of ${operationId}`))),
        },
      }),
  };
}

const described = (schema: Schema, description: string): Schema => ({ description, ...schema });

const withJson = <T extends { content: Record<string, { schema: Schema }> }>(holder: T, schema: Schema): T => ({
  ...holder,
  content: { ...holder.content, 'application/json': { schema } },
});

const needsName = ({ properties, anyOf, oneOf }: Schema): boolean =>
  Object.keys(properties ?? {}).length > 0 || Boolean(anyOf ?? oneOf);

/** A response with only entries and the cursor. */
export const isPage = ({ properties = {} }: Schema): boolean =>
  Object.keys(properties).join() === 'items,page' && Boolean(properties['page']?.$ref);

function queryOf(operationId: string, parameters: readonly Parameter[]): Schema {
  const members = parameters.map(({ name, schema, description }): [string, Schema] => [
    name,
    { ...wordsOf(schema), ...(description && { description }) },
  ]);
  return {
    type: 'object',
    description: `Query of ${operationId}`,
    properties: Object.fromEntries(members),
    required: parameters.filter((one) => one.required).map((one) => one.name),
  };
}

/** The typed form of a text in an address. */
function wordsOf(schema: Schema): Schema {
  const values = (schema.enum ?? []).map(String);
  if (values.length === 2 && values.includes('true') && values.includes('false')) return { type: 'boolean' };
  if (values.length > 0 && values.every((value) => /^\d+$/.test(value)))
    return { enum: values.flatMap((value) => [Number(value), value]) };
  return schema.type === 'string' && values.length === 0 ? WORDS : schema;
}
