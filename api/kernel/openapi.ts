import { z } from 'zod';
import {
  type CreateDocumentOptions,
  createDocument,
  type ZodOpenApiContentObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
  type ZodOpenApiResponsesObject,
} from 'zod-openapi';
import type { Access, Area, Endpoint } from './endpoint.ts';
import { type ErrorCode, errorCodes } from './errors.ts';
import { addExamples } from './example.ts';
import type { Schemas } from './json-schema.ts';

type Override = NonNullable<CreateDocumentOptions['override']>;
const override: Override = ({ jsonSchema, io }) => {
  if (jsonSchema.propertyNames && jsonSchema.required) nameMembers(jsonSchema);
  if (io === 'output' && jsonSchema.properties) delete jsonSchema.additionalProperties; // later versions of v1 may add members
  if (jsonSchema.format && jsonSchema.pattern) delete jsonSchema.pattern;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
};

/** Describes a record with known keys as an object with named members. */
function nameMembers(schema: Parameters<Extract<Override, (context: never) => void>>[0]['jsonSchema']): void {
  const { required = [], additionalProperties = {} } = schema;
  schema.properties = Object.fromEntries(required.map((name) => [name, additionalProperties]));
  delete schema.propertyNames;
}

/** The OpenAPI 3.1 description, from the same records that serve the API. */
export function openApi(areas: readonly Area[], version: string): object {
  const paths: ZodOpenApiPathsObject = {};
  for (const area of areas) {
    for (const endpoint of area.endpoints) {
      const path = endpoint.path.replace(/:(\w+)/g, '{$1}');
      paths[path] ??= {};
      paths[path][endpoint.method] = operation(endpoint, area);
    }
  }
  const document = createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: 'Foyer',
        version,
        description: 'API of a Foyer media-library server. Every failure is the error envelope; branch on error.code.',
      },
      servers: [{ url: '/api/v1' }],
      tags: areas.map((area) => ({ name: area.name })),
      paths,
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'An access token, or an API key' },
          cookie: { type: 'apiKey', in: 'cookie', name: '__Host-foyer_session' },
        },
      },
    },
    { override },
  );
  const { paths: described = {}, components = {} } = document;
  addExamples(described as Parameters<typeof addExamples>[0], (components.schemas ?? {}) as Schemas);
  return document;
}

function operation(endpoint: Endpoint, area: Area): ZodOpenApiOperationObject {
  const { operationId, summary, description, emits, castTicket, plus } = endpoint;
  const credentials = credentialsOf(endpoint);
  const cookie = credentials.includes('cookie') ? [{ cookie: [] }] : [];
  return {
    operationId,
    summary,
    ...(description && { description }),
    tags: [area.name],
    security: credentials.length === 0 ? [] : [{ bearer: [] }, ...cookie],
    ...request(endpoint),
    responses: { ...success(endpoint, linksOf(endpoint, area)), ...failures(endpoint) },
    'x-permission': permissionWord(endpoint.access),
    'x-credentials': credentials,
    ...(emits && { 'x-events': [...emits] }),
    ...(plus && { 'x-plus': typeof plus === 'string' ? plus : plus.partly }),
    ...(castTicket && { 'x-cast-ticket': true }),
  };
}

function request(endpoint: Endpoint): Partial<ZodOpenApiOperationObject> {
  const { params, query, body, optionalBody } = endpoint;
  const path = params && { path: params as z.ZodObject };
  const queryParams = query && { query: query as z.ZodObject };
  return {
    ...((path || queryParams) && { requestParams: { ...path, ...queryParams } }),
    ...(body && { requestBody: { required: !optionalBody, content: contentOf(endpoint) } }),
  };
}

const BINARY = { type: 'string' as const, format: 'binary' };

/** A body as JSON, as bytes, or as JSON or a form, where only the form has files; a required file leaves the form alone. */
function contentOf({ body, bodyMedia, files, urlEncoded }: Endpoint): ZodOpenApiContentObject {
  if (urlEncoded) return { 'application/x-www-form-urlencoded': { schema: body as z.ZodType } };
  if (bodyMedia) return Object.fromEntries(bodyMedia.map((type) => [type, { schema: BINARY }]));
  if (!files || !(body instanceof z.ZodObject)) return { 'application/json': { schema: body as z.ZodType } };
  const names = Object.keys(files);
  const plain = body.omit(Object.fromEntries(names.map((name) => [name, true])) as never) as z.ZodObject;
  const isRequired = (name: string): boolean => !z.safeParse(body.shape[name] as z.ZodType, undefined).success;
  const one = z.string().meta({ override: BINARY });
  const binary = names.map((name) => {
    const { many } = files[name] ?? {};
    const file = many ? z.array(one).min(1).max(many) : one;
    return [name, isRequired(name) ? file : file.optional()];
  });
  const form = plain.extend(Object.fromEntries(binary) as z.ZodRawShape);
  const encoding = Object.fromEntries(
    names.map((name) => [name, { contentType: files[name]?.media.join(', ') ?? '' }]),
  );
  const asForm = { 'multipart/form-data': { schema: form, encoding } };
  return names.some(isRequired) ? asForm : { 'application/json': { schema: plain }, ...asForm };
}

/** The permission of an operation as one word. */
export function permissionWord(access: Access): string {
  if ('permission' in access) return access.permission;
  if ('signedIn' in access) return 'signed-in';
  if ('person' in access) return 'person';
  return 'owner' in access ? 'owner' : 'public';
}

export function credentialsOf(endpoint: Endpoint): readonly string[] {
  const { access } = endpoint;
  if ('anyone' in access) return [];
  const person = 'person' in access || 'owner' in access;
  return endpoint.credentials ?? (person ? ['cookie', 'bearer'] : ['cookie', 'bearer', 'key']);
}

interface Links {
  [operationId: string]: { operationId: string; parameters: Record<string, string> };
}

/** Links from the operation that creates an object to those that read, change and delete it. */
function linksOf({ method, path, answer }: Endpoint, { endpoints }: Area): Links {
  const made = method === 'post' && answer.schema instanceof z.ZodObject && 'id' in answer.schema.shape;
  const followers = endpoints.filter((other) =>
    made ? other.path === `${path}/:id` : method === 'get' && other.method !== 'get' && other.path === path,
  );
  const parameters: Record<string, string> = made
    ? { id: '$response.body#/id' }
    : Object.fromEntries([...path.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, `$request.path.${name}`]));
  const linked = made || path.includes('/:') ? followers : [];
  return Object.fromEntries(linked.map(({ operationId }) => [operationId, { operationId, parameters }]));
}

function success(endpoint: Endpoint, links: Links): ZodOpenApiResponsesObject {
  const { answer, also = [], method } = endpoint;
  const creates = method === 'post' && [201, 202].includes(answer.status);
  const statuses = new Set([answer.status, ...also, ...(creates ? [200] : [])]);
  return Object.assign(
    {},
    ...[...statuses].sort((a, b) => a - b).map((status) => successOf(endpoint, status, links)),
  ) as ZodOpenApiResponsesObject;
}

function successOf({ answer, summary }: Endpoint, code: number, links: Links): ZodOpenApiResponsesObject {
  const description = code === answer.status ? summary : (OTHERWISE[code] ?? summary);
  const status = String(code) as '200';
  if (answer.kind === 'none') return { [status]: { description } };
  if (answer.kind === 'bytes') {
    const content = Object.fromEntries(
      (answer.media ?? []).map((type) => [
        type,
        { schema: { type: type === 'application/json' ? ('object' as const) : ('string' as const) } },
      ]),
    );
    return { [status]: { description, content } };
  }
  const content = { 'application/json': { schema: answer.schema as z.ZodType } };
  return { [status]: { description, content, ...(Object.keys(links).length > 0 && { links }) } };
}

const OTHERWISE: Record<number, string> = {
  200: 'The object that exists already',
  202: 'Taken; a job goes on with it',
};

const CREDENTIAL: readonly ErrorCode[] = [
  'UNAUTHENTICATED',
  'AUTH_TOKEN_EXPIRED',
  'AUTH_TOKEN_INVALID',
  'FORBIDDEN',
  'RATE_LIMITED',
];

/** Error codes that follow from the declaration of an operation, and those that it names. */
export function errorsOf(endpoint: Endpoint): ErrorCode[] {
  const { access, path, method, answer } = endpoint;
  const credential = !('anyone' in access);
  const follows: [boolean, readonly ErrorCode[]][] = [
    [true, ['INTERNAL', 'SERVICE_STARTING', 'VALIDATION_FAILED']], // unknown query parameters are refused everywhere
    [credential, CREDENTIAL],
    [!credential, ['RATE_LIMITED']], // an optional API key has its limit too
    [credential && !endpoint.anyHour, ['PERMISSION_TIME_RESTRICTED']],
    [true, ['PAYLOAD_TOO_LARGE']], // a body, or a URL over 32 KiB
    [Boolean(endpoint.plus), ['PLUS_REQUIRED']],
    [/:\w+/.test(path), ['NOT_FOUND']],
    [method === 'post' && [201, 202].includes(answer.status), ['CONFLICT']],
  ];
  return [...new Set([...follows.flatMap(([holds, codes]) => (holds ? codes : [])), ...(endpoint.errors ?? [])])];
}

const envelopes = new Map<string, z.ZodType>();

function failures(endpoint: Endpoint): ZodOpenApiResponsesObject {
  const byStatus = Map.groupBy(errorsOf(endpoint), (code) => errorCodes[code].status);
  return Object.fromEntries(
    [...byStatus].sort(([a], [b]) => a - b).map(([status, codes]) => [String(status), failure(codes.sort())]),
  );
}

/** One response component for each set of codes, which operations reference. */
function failure(codes: ErrorCode[]): ZodOpenApiResponseObject {
  const id = codes.map(pascalCase).join('Or');
  const known = described.get(id);
  if (known) return known;
  const made = { id, description: codes.join(', '), content: { 'application/json': { schema: errorEnvelope(codes) } } };
  described.set(id, made);
  return made;
}

const described = new Map<string, ZodOpenApiResponseObject>();

const pascalCase = (code: string): string =>
  code.toLowerCase().replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

/** The described form of a schema, in which answers permit further members. */
const written = (schema: z.ZodType): string =>
  JSON.stringify({ ...z.toJSONSchema(schema, { unrepresentable: 'any' }), additionalProperties: undefined });

function errorEnvelope(codes: ErrorCode[]): z.ZodType {
  const id = `Error_${codes.join('_')}`;
  const known = envelopes.get(id);
  if (known) return known;
  const all = codes.map((code) => errorCodes[code].details as z.ZodType);
  const details = [...new Map(all.map((schema) => [written(schema), schema])).values()];
  const made = z
    .object({
      error: z.object({
        code: z.enum(codes as [ErrorCode]),
        message: z.string().describe('For people; may change').meta({ example: 'The request is not valid' }),
        details: details.length === 1 && details[0] ? details[0] : z.union(details),
        requestId: z.string().describe('Matches the log lines of the request'),
      }),
    })
    .meta({ id });
  envelopes.set(id, made);
  return made;
}
