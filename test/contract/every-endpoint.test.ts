import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { z } from 'zod';
import { areas } from '#areas/index.ts';
import { type Permission, permissions } from '#identity/permissions.ts';
import type { Endpoint } from '#kernel/endpoint.ts';
import { credentialsOf } from '#kernel/openapi.ts';
import { ABSENT, errorOf } from '#support/answers.ts';
import { type Api, type RequestInput, startApi, type TestClient } from '#support/api.ts';
import type { Person } from '#support/given.ts';

const all = areas.flatMap((area) => area.endpoints as readonly Endpoint[]);
const VERIFIER = '{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}'; // of RFC 8037
/** Larger files are not made up in memory, bytes. */
const MOST_SENT = 64 << 20;
/** Path parameters that are well formed and name nothing. */
function absentParams(endpoint: Endpoint): Record<string, string> {
  const samples: Record<string, string> = {
    rendition: 'v0',
    segment: '0.m4s',
    sheet: '320-0.webp',
    kind: 'poster',
    index: '0',
  };
  return Object.fromEntries(
    [...endpoint.path.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, samples[name] ?? ABSENT]),
  );
}

/** The least body that its schema takes, by trying the plain values. */
function leastBody(schema: z.core.$ZodType | undefined): unknown {
  if (!schema) return undefined;
  const plain = [
    {},
    { all: true },
    { favorite: true },
    { none: true },
    { accept: 'sample-differs' },
    { state: 'x', code: 'x' },
    { kind: 'poster', candidateId: 'x' },
    { externalIds: { tmdb: '1' } },
  ].find((body) => z.safeParse(schema, body).success);
  if (plain) return plain;
  const shape = schema instanceof z.ZodObject ? schema.shape : {};
  const guesses = [
    ABSENT,
    [ABSENT],
    1,
    'movies',
    'page:1',
    'apply',
    'playing',
    true,
    {},
    [{ storageId: ABSENT, path: 'x' }],
    [],
    { mode: 'default', ids: [] },
    ['genres'],
  ];
  const body: Record<string, unknown> = {};
  for (const [key, part] of Object.entries(shape)) {
    if (z.safeParse(part as z.ZodType, undefined).success) continue;
    body[key] = guesses.find((guess) => z.safeParse(part as z.ZodType, guess).success);
  }
  return body;
}

/** The least form of an operation that requires a file; undefined for others. */
function leastForm({ body, files = {} }: Endpoint): FormData | undefined {
  const shape = body instanceof z.ZodObject ? body.shape : {};
  const required = Object.keys(files).filter((name) => !z.safeParse(shape[name] as z.ZodType, undefined).success);
  if (required.length === 0) return undefined;
  const form = new FormData();
  for (const name of required) form.append(name, new Blob(['x']));
  if ('kind' in shape) form.append('kind', 'poster');
  return form;
}

const issuesOf = async (response: Response): Promise<string[]> => {
  const { error } = (await response.json()) as { error: { details: { issues?: { path: string[]; code: string }[] } } };
  return (error.details.issues ?? []).map(({ path, code }) => `${path.join('.')} ${code}`);
};

/** Queries of operations that require one. */
const QUERIES: Record<string, Record<string, string | number>> = {
  deleteUser: { confirm: 'x' },
  getLibraryFacets: { fields: 'year' },
  getLibraryMap: { bbox: '0,0,1,1', zoom: 1 },
  getSubtitleImages: { from: 0, to: 1 },
};

const pathOf = (endpoint: Endpoint): string =>
  `/api/v1${endpoint.path.replace(/:(\w+)/g, (_, name: string) => absentParams(endpoint)[name] ?? '')}`;

async function refusesBadBodies(api: Api, endpoint: Endpoint, headers: Record<string, string>): Promise<void> {
  const raw = (body: string, type = 'application/json') =>
    api.fetch(pathOf(endpoint), {
      method: endpoint.method.toUpperCase(),
      headers: { ...headers, 'content-type': type },
      body,
    });
  const unknown = await raw(JSON.stringify({ ...(leastBody(endpoint.body) as object), noSuchField: 1 }));
  expect(unknown.status).to.equal(400);
  expect(await issuesOf(unknown)).to.include('body.noSuchField unknown_field');
  expect((await raw('{"a":')).status).to.equal(400);
  expect((await raw('[]')).status).to.equal(400);
  expect((await raw('<a/>', 'text/xml')).status).to.equal(400);
  expect((await raw(`{"a":"${'x'.repeat(1 << 20)}"}`)).status).to.equal(413);
}

async function refusesBadQueries(api: Api, endpoint: Endpoint, headers: Record<string, string>): Promise<void> {
  const { body, bodyMedia, urlEncoded } = endpoint;
  const sent = bodyMedia
    ? { type: bodyMedia[0] ?? '', bytes: 'no picture' }
    : urlEncoded
      ? { type: 'application/x-www-form-urlencoded', bytes: '' }
      : { type: 'application/json', bytes: JSON.stringify(leastBody(body)) };
  const send = (query: string) =>
    api.fetch(`${pathOf(endpoint)}?${query}`, {
      method: endpoint.method.toUpperCase(),
      headers: { ...headers, ...(body && { 'content-type': sent.type }) },
      ...(body && { body: sent.bytes }),
    });
  const unknown = await send('noSuchParameter=1');
  expect(unknown.status).to.equal(400);
  expect(await issuesOf(unknown)).to.include('query.noSuchParameter unknown_field');
  const [name = ''] = endpoint.query instanceof z.ZodObject ? Object.keys(endpoint.query.shape) : [];
  const twice = await send(`${name}=1&${name}=1`);
  expect(twice.status).to.equal(400);
  expect(await issuesOf(twice)).to.include(`query.${name} duplicate`);
}

const needs = (endpoint: Endpoint): Permission | undefined =>
  'permission' in endpoint.access ? endpoint.access.permission : undefined;

describe('every endpoint', () => {
  let api: Api;
  let owner: Person;
  before(async () => {
    api = await startApi();
    owner = await api.given.owner();
  });
  const call = (client: TestClient, endpoint: Endpoint, send: RequestInput = {}) =>
    client[endpoint.operationId as keyof TestClient]({ params: absentParams(endpoint), ...send });

  for (const endpoint of all.filter((one) => !('anyone' in one.access))) {
    describe(endpoint.operationId, () => {
      it('is closed to callers without a credential, and returns 401 before all else', async () => {
        const answer = await call(api.anyone, endpoint, { body: endpoint.body ? { garbage: true } : undefined });
        expect(answer.status).to.equal(401);
        expect(errorOf(answer).code).to.equal('UNAUTHENTICATED');
        expect(answer.headers.get('x-request-id')).to.equal(errorOf(answer).requestId);
      });

      const permission = needs(endpoint);
      if (permission) {
        it(`needs ${permission}, also of a key`, async () => {
          const without = await api.given.person('member', {
            own_permissions: JSON.stringify({ [permission]: false }),
          });
          const refused = await call(api.as(without), endpoint, {
            body: endpoint.body ? { garbage: true } : undefined,
          });
          expect(refused.status).to.equal(403);
          expect(errorOf(refused).details.permission).to.equal(permission);
          if (!credentialsOf(endpoint).includes('key')) return; // sent below
          const narrow = await api.given.key(
            owner,
            permissions.filter((one) => one !== permission),
          );
          const byKey = await call(api.as(narrow), endpoint);
          expect(byKey.status).to.equal(403);
          expect(errorOf(byKey).details.scopes).to.deep.equal([permission]);
        });
      }

      if (!credentialsOf(endpoint).includes('key')) {
        it('takes no API key', async () => {
          const key = await api.given.key(owner, [...permissions]);
          expect(errorOf(await call(api.as(key), endpoint)).details.by).to.equal('api-key');
        });
      }

      const { plus } = endpoint;
      if (typeof plus === 'string') {
        it(`needs ${plus} where licences are required, before its body is parsed`, async () => {
          const closed = await startApi({ FOYER_PLUS_VERIFIER: VERIFIER });
          const body = endpoint.body ? { garbage: true } : undefined;
          const refused = await call(closed.as(await closed.given.owner()), endpoint, { body });
          expect(refused.status).to.equal(402);
          expect(errorOf(refused).details).to.deep.equal({ feature: plus });
        });
      }

      if (/:(id|fileId)\b/.test(endpoint.path)) {
        it('refuses a malformed id with 400 and an unknown one with 404', async () => {
          const body = leastForm(endpoint) ?? leastBody(endpoint.body);
          for (const id of ['x', '../../etc/passwd', '%2e%2e%2f', "1' or '1'='1", '\u0000', 'a'.repeat(3000)]) {
            const params = { ...absentParams(endpoint), id, fileId: id };
            const answer = await call(api.as(owner), endpoint, { params, body });
            expect(answer.status, id.slice(0, 20)).to.equal(400);
            expect(errorOf(answer).code).to.equal('VALIDATION_FAILED');
          }
          if (endpoint.operationId === 'endSession') return; // tests of its own cover the end of one's own session
          const query = QUERIES[endpoint.operationId] ?? {};
          const answer = await call(api.as(owner), endpoint, { body, query });
          expect(answer.status, JSON.stringify(answer.body)).to.equal(404);
        });
      }

      if (endpoint.body && !endpoint.bodyMedia) {
        it('refuses unknown fields, broken JSON, another type and too much with the issues', async () => {
          await refusesBadBodies(api, endpoint, owner.headers);
        });
      }

      const { files, bodyMedia } = endpoint;
      if (bodyMedia) {
        it('refuses no bytes with 400, too many with 413, and never returns 5xx for bytes that are no picture', async () => {
          const put = (size: number, type: string) =>
            call(api.as(owner), endpoint, { body: Buffer.alloc(size, 1), headers: { 'content-type': type } });
          expect((await put(0, bodyMedia[0] ?? '')).status).to.equal(400);
          const large = await put((endpoint.maxBodyBytes ?? 1 << 20) + 1, bodyMedia[0] ?? '');
          expect(large.status).to.equal(413);
          expect(errorOf(large).details.maxBytes).to.equal(endpoint.maxBodyBytes ?? 1 << 20);
          expect((await put(10, 'text/plain')).status).to.be.within(400, 415);
        });
      }

      if (files) {
        it('refuses parts of a form that it does not know, twice or too large, and bodies that are no form', async () => {
          const form = async (...parts: [string, string | Blob][]) => {
            const body = new FormData();
            for (const [name, value] of parts) body.append(name, value);
            return call(api.as(owner), endpoint, { body });
          };
          const issues = (answer: { body: unknown }) =>
            (errorOf(answer).details.issues as { path: string[]; code: string }[]).map(
              ({ path, code }) => `${path.join('.')} ${code}`,
            );
          expect(issues(await form(['noSuchField', 'x']))).to.include('body.noSuchField unknown_field');
          expect(issues(await form(['noSuchFile', new Blob(['x'])]))).to.include('body.noSuchFile unknown_field');
          for (const [name, { maxBytes, many = 1 }] of Object.entries(files)) {
            const more = Array.from({ length: many + 1 }, (): [string, Blob] => [name, new Blob(['x'])]);
            expect(issues(await form(...more))).to.include(`body.${name} ${many > 1 ? 'too_many' : 'duplicate'}`);
            if (maxBytes > MOST_SENT) continue; // the limit of packs is that of the same reader
            const large = await form([name, new Blob([Buffer.alloc(maxBytes + 1)])]);
            expect(large.status).to.equal(413);
            expect(errorOf(large).details.maxBytes).to.equal(maxBytes);
          }
          const headers = { 'content-type': 'multipart/form-data; boundary=x' };
          for (const body of ['', '--x', '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\ncut'])
            expect((await call(api.as(owner), endpoint, { body: Buffer.from(body), headers })).status).to.equal(400);
          const unbounded = { 'content-type': 'multipart/form-data' };
          const answer = await call(api.as(owner), endpoint, { body: Buffer.from('x'), headers: unbounded });
          expect(answer.status).to.equal(400);
        });
      }

      if (endpoint.query) {
        it('refuses a parameter it does not know, and one given twice', async () => {
          await refusesBadQueries(api, endpoint, owner.headers);
        });
      }
    });
  }

  describe('without a credential', () => {
    const CODE = 'abcdefghijklmnopqrstuvwxyz';
    let fresh: Api;
    let ticket: Record<string, string>;
    before(async () => {
      const claim = createHash('sha256').update(CODE).digest('hex');
      fresh = await startApi({ FOYER_CLAIM_SHA256: claim, FOYER_CLAIM_FROM: 'secret' });
      const { body } = await fresh.anyone.claimServer({ body: { code: CODE } });
      ticket = { authorization: `Bearer ${body.ticket}` };
    });
    beforeEach(() => fresh.deps.redis.flushdb()); // attempts are counted

    for (const endpoint of all.filter((one) => 'anyone' in one.access)) {
      const headers = () => (endpoint.path.startsWith('/setup') ? ticket : {});
      if (endpoint.body && !endpoint.bodyMedia && !endpoint.urlEncoded)
        it(`${endpoint.operationId} refuses unknown fields, broken JSON, another type and too much with the issues`, () =>
          refusesBadBodies(fresh, endpoint, headers()));
      if (endpoint.query)
        it(`${endpoint.operationId} refuses a parameter it does not know, and one given twice`, () =>
          refusesBadQueries(fresh, endpoint, headers()));
    }
  });

  it('lets a cookie change nothing without X-Client-Id', async () => {
    const token = owner.headers.authorization?.slice('Bearer '.length);
    for (const endpoint of all.filter((one) => one.method !== 'get' && !('anyone' in one.access))) {
      const answer = await call(api.as({ ...owner, headers: { cookie: `foyer_session=${token}` } }), endpoint, {
        body: {},
      });
      expect(answer.status, endpoint.operationId).to.equal(403);
      expect(errorOf(answer).details.header, endpoint.operationId).to.equal('X-Client-Id');
    }
  });
});
