import { expect } from 'chai';
import { areas } from '#areas/index.ts';
import { errorCodes } from '#kernel/errors.ts';
import { openApi } from '#kernel/openapi.ts';

type Json = Record<string, unknown>;
interface Operation extends Json {
  operationId: string;
  security: Json[];
  responses: Record<string, { description: string; content?: Record<string, { schema: Json }> }>;
  parameters?: { name: string; in: string; required?: boolean }[];
}

/** As a reader has it: parsed from its bytes. */
const document = JSON.parse(JSON.stringify(openApi(areas, '1.2.3'))) as Json & {
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Json>;
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

function* nodes(value: unknown): Generator<Json> {
  if (typeof value !== 'object' || value === null) return;
  yield value as Json;
  for (const inner of Object.values(value)) yield* nodes(inner);
}
const resolve = (ref: string): unknown =>
  ref
    .slice(2)
    .split('/')
    .reduce<unknown>(
      (at, step) => (at as Json | undefined)?.[step.replaceAll('~1', '/').replaceAll('~0', '~')],
      document,
    );

describe('OpenAPI document', () => {
  it('describes every endpoint, each under its own operationId', () => {
    const served = areas.flatMap((area) => area.endpoints.map((endpoint) => endpoint.operationId as string));
    expect(operations.map(({ operation }) => operation.operationId)).to.have.members(served);
    expect(new Set(served).size).to.equal(served.length);
  });

  it('has no reference that leads nowhere and no component without a user', () => {
    const used = new Set<string>();
    for (const node of nodes(document)) {
      const ref = node['$ref'];
      if (typeof ref !== 'string') continue;
      expect(ref).to.match(/^#\/components\//);
      expect(resolve(ref), ref).to.be.an('object');
      used.add(ref);
    }
    expect(used.size).to.be.greaterThan(50);
    for (const name of Object.keys(document.components['schemas'] ?? {}))
      expect(used.has(`#/components/schemas/${name}`), name).to.equal(true);
  });

  it('leads from the operation that creates a record to those that read, change and delete it', () => {
    const linksOf = (path: string, method: string, status: string): unknown =>
      (document.paths[path]?.[method]?.responses[status] as { links?: unknown } | undefined)?.links;
    const made = { parameters: { id: '$response.body#/id' } };
    const links = linksOf('/libraries', 'post', '201');
    expect(links).to.have.all.keys('getLibrary', 'updateLibrary', 'deleteLibrary');
    expect(links).to.deep.include({ getLibrary: { operationId: 'getLibrary', ...made } });
    expect(linksOf('/libraries/{id}', 'get', '200')).to.deep.include({
      deleteLibrary: { operationId: 'deleteLibrary', parameters: { id: '$request.path.id' } },
    });
    expect(linksOf('/libraries', 'get', '200')).to.equal(undefined);
  });

  it('states for each operation its requirements, its credentials, and its failures', () => {
    const schemes = Object.keys(document.components['securitySchemes'] ?? {});
    for (const { operation } of operations) {
      const { operationId, security, responses } = operation;
      expect(operation['summary'], operationId).to.be.a('string').and.not.equal('');
      expect(operation['tags'], operationId).to.have.length(1);
      expect(operation['x-permission'], operationId).to.match(/^([a-z-]+:[a-z-]+|signed-in|person|owner|public)$/);
      const credentials = operation['x-credentials'] as string[];
      const isPublic = operation['x-permission'] === 'public';
      expect(credentials.length === 0, operationId).to.equal(isPublic);
      expect(security.length === 0, operationId).to.equal(isPublic);
      for (const one of security) expect(schemes).to.include.members(Object.keys(one));
      expect(security.some((one) => 'cookie' in one)).to.equal(credentials.includes('cookie'));
      const statuses = Object.keys(responses);
      expect(
        statuses.some((status) => status.startsWith('2')),
        operationId,
      ).to.equal(true);
      expect(statuses, operationId).to.include.members(isPublic ? ['500', '503'] : ['401', '403', '429', '500', '503']);
    }
  });

  it('gives each failure the envelope with the codes of its status', () => {
    for (const { operation } of operations) {
      for (const [status, named] of Object.entries(operation.responses)) {
        if (Number(status) < 400) continue;
        const { $ref } = named as { $ref?: string };
        expect($ref, `${operation.operationId} ${status}`).to.match(/^#\/components\/responses\//);
        const response = resolve($ref ?? '') as unknown as typeof named;
        const schema = response.content?.['application/json']?.schema ?? {};
        const whole = (typeof schema['$ref'] === 'string' ? resolve(schema['$ref']) : schema) as Json;
        const error = ((whole['properties'] as Json)['error'] as Json)['properties'] as Record<string, Json>;
        expect(Object.keys(error)).to.have.members(['code', 'message', 'details', 'requestId']);
        const codes = (error['code']?.['enum'] ?? [error['code']?.['const']]) as (keyof typeof errorCodes)[];
        expect(codes.length).to.be.greaterThan(0);
        for (const code of codes) expect(errorCodes[code].status, code).to.equal(Number(status));
        expect(response.description.split(', ')).to.have.members(codes);
      }
    }
  });

  it('names each parameter of a path once and no other, always required', () => {
    for (const { path, operation } of operations) {
      const wanted = [...path.matchAll(/\{(\w+)\}/g)].map((found) => found[1]);
      const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
      expect(
        inPath.map((parameter) => parameter.name),
        path,
      ).to.have.members(wanted);
      for (const parameter of inPath) expect(parameter.required, path).to.equal(true);
    }
  });

  it('closes no answer to members that v1 may add, and omits bounds that no reader of the numbers can use', () => {
    for (const { operation } of operations) {
      for (const node of nodes(operation.responses)) expect(node['additionalProperties']).to.not.equal(false);
    }
    for (const node of nodes(document)) {
      expect([node['minimum'], node['maximum']]).to.not.include.oneOf([
        Number.MIN_SAFE_INTEGER,
        Number.MAX_SAFE_INTEGER,
      ]);
      expect(node['format'] !== undefined && node['pattern'] !== undefined).to.equal(false);
    }
  });
});
