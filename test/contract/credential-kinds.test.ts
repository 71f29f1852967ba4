// A secret serves its own purpose and no other: each kind, in every place of another kind, at every operation that
// needs one.

import { expect } from 'chai';
import { areas } from '#areas/index.ts';
import { storeTicket } from '#areas/setup/public.ts';
import type { Endpoint } from '#kernel/endpoint.ts';
import { newSecret } from '#platform/ids.ts';
import { ABSENT } from '#support/answers.ts';
import { type Api, clientFor, type RequestInput, startApi } from '#support/api.ts';
import { challengeOf, device, errorOf, type Somebody, signIn, somebody, withTotp } from '#support/signing-in.ts';

const SAMPLES: Record<string, string> = { rendition: 'v0', segment: '0.m4s', sheet: '320-0.webp' };
const guarded = areas
  .flatMap((area) => area.endpoints as readonly Endpoint[])
  .filter(({ access }) => !('anyone' in access));
const paramsOf = ({ path }: Endpoint): Record<string, string> =>
  Object.fromEntries([...path.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, SAMPLES[name] ?? ABSENT]));

const kinds = ['access token', 'refresh token', 'API key', 'setup ticket', 'challenge of a second factor'] as const;
type Kind = (typeof kinds)[number];

/** Where a secret can be put, and the kinds that belong there. */
const places: { place: string; put: (secret: string) => RequestInput; takes: readonly Kind[] }[] = [
  {
    place: 'as bearer',
    put: (s) => ({ headers: { authorization: `Bearer ${s}` } }),
    takes: ['access token', 'API key'],
  },
  { place: 'as basic', put: (s) => ({ headers: { authorization: `Basic ${btoa(`a:${s}`)}` } }), takes: [] },
  {
    place: 'in the session cookie',
    put: (s) => ({ headers: { cookie: `foyer_session=${s}` } }),
    takes: ['access token'],
  },
  { place: 'in the refresh cookie', put: (s) => ({ headers: { cookie: `foyer_refresh=${s}` } }), takes: [] },
  { place: 'in the setup cookie', put: (s) => ({ headers: { cookie: `foyer_setup=${s}` } }), takes: [] },
  { place: 'as cast ticket', put: (s) => ({ query: { ticket: s } }), takes: [] },
  { place: 'as access_token of the query', put: (s) => ({ query: { access_token: s } }), takes: [] },
  { place: 'as X-Api-Key', put: (s) => ({ headers: { 'x-api-key': s } }), takes: [] },
];

describe('a credential of one kind', () => {
  let api: Api;
  let member: Somebody;
  let secrets: Record<Kind, string>;
  before(async () => {
    api = await startApi();
    const owner = await api.given.owner();
    member = await somebody(api);
    const careful = await somebody(api);
    await withTotp(careful.me);
    const ticket = newSecret('foyst_');
    await storeTicket(api.deps.db, ticket, 'test');
    const key = await api.given.key(owner, ['library:view']);
    secrets = {
      'access token': member.accessToken,
      'refresh token': member.refreshToken,
      'API key': key.headers['authorization']?.replace('Bearer ', '') ?? '',
      'setup ticket': ticket,
      'challenge of a second factor': challengeOf(await signIn(api, careful.username)),
    };
  });

  for (const { place, put, takes } of places)
    for (const kind of kinds.filter((one) => !takes.includes(one)))
      it(`opens nothing ${place}: ${kind}`, async () => {
        const client = clientFor(api.url, {});
        const secret = secrets[kind];
        expect(secret).to.have.length.above(10);
        const opened: string[] = [];
        for (const endpoint of guarded) {
          const { query, headers } = put(secret);
          const input = { params: paramsOf(endpoint), ...(query && { query }), headers: { ...device, ...headers } };
          const { status } = await client[endpoint.operationId as keyof typeof client](input);
          if (status !== 401) opened.push(`${endpoint.operationId}: ${status}`);
        }
        expect(opened).to.deep.equal([]);
      });

  it('renews no sign-in but the refresh token', async () => {
    for (const kind of kinds.filter((one) => one !== 'refresh token'))
      for (const input of [
        { body: { refreshToken: secrets[kind] } },
        { body: {}, headers: { cookie: `foyer_refresh=${secrets[kind]}` } },
      ]) {
        const answer = await api.anyone.refreshSession({ ...input, headers: { ...device, ...input.headers } });
        // A credential without even its shape is reported as an invalid request.
        expect(['AUTH_TOKEN_INVALID', 'VALIDATION_FAILED'], kind).to.include(errorOf(answer).code);
      }
    const own = await api.anyone.refreshSession({ body: { refreshToken: member.refreshToken }, headers: device });
    expect(own.status).to.equal(200);
  });
});
