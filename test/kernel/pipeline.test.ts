import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { ObjectsUnavailable } from '#platform/objects.ts';
import { ABSENT } from '#support/answers.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const ORIGIN = 'https://tv.example';

describe('pipeline', () => {
  let api: Api;
  before(async () => {
    api = await startApi({ FOYER_SETTINGS: JSON.stringify({ 'network.corsOrigins': [ORIGIN] }) });
  });
  const send = async (path: string, init: RequestInit = {}) => {
    const response = await api.fetch(`/api/v1${path}`, init);
    const body = (await response.text()) || '{}';
    const error = (
      JSON.parse(body) as { error?: { code: string; details: Record<string, unknown>; requestId: string } }
    ).error;
    return { status: response.status, headers: response.headers, error };
  };
  const post = (path: string, headers: Record<string, string>, body = '{"wrong":true}') =>
    send(path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
  const cookieOf = (person: Person): string =>
    `foyer_session=${(person.headers['authorization'] ?? '').replace('Bearer ', '')}`;

  describe('order of refusals', () => {
    it('is credential, limit of the key, viewing hours, permission, content: the first fault decides', async () => {
      const { given, deps } = api;
      const never = [{ days: [DAYS[(new Date().getUTCDay() + 3) % 7]], from: '10:00', to: '10:01' }];
      const child = await given.person('child', { viewing_hours: JSON.stringify(never) });
      const key = await given.key(child, ['library:view'], { per_minute: 1 });
      const code = async (headers: Record<string, string>): Promise<string> =>
        (await post('/libraries', headers)).error?.code ?? 'none';
      expect(await code({}), 'every fault').to.equal('UNAUTHENTICATED');
      expect(await code({ authorization: 'Bearer foyer_unknown' })).to.equal('AUTH_TOKEN_INVALID');
      expect(await code(key.headers), 'outside the hours').to.equal('PERMISSION_TIME_RESTRICTED');
      expect(await code(key.headers), 'over the limit too').to.equal('RATE_LIMITED');
      await deps.redis.flushdb();
      await deps.db('accounts').where({ id: child.accountId }).update({ viewing_hours: '[]' });
      expect(await code(key.headers), 'without the permission').to.equal('FORBIDDEN');
      expect(await code((await given.admin()).headers), 'with nothing but a bad body').to.equal('VALIDATION_FAILED');
    });

    it('reports the faults of a filter, a sort and a cursor together with all the rest', async () => {
      const { headers } = await api.given.admin();
      const wrong = 'filter=year:like:1;nothing:eq:1;title:eq:ok&sort=-weight&cursor=x&limit=0&colour=red';
      for (const path of ['/items', '/users', '/settings/history', '/email/messages']) {
        const { status, error } = await send(`${path}?${wrong}`, { headers });
        const issues = error?.details['issues'] as { path: (string | number)[]; code: string }[];
        expect([path, status, new Set(issues.map((issue) => issue.path.join('.')))]).to.deep.equal([
          path,
          400,
          new Set([
            ...['query.colour', 'query.limit', 'query.cursor', 'query.sort', 'query.filter.1'],
            ...(path === '/items' ? ['query.filter.0'] : ['query.filter.0', 'query.filter.2']),
          ]),
        ]);
      }
    });

    it('reports when watching resumes, and which permission or scope is missing', async () => {
      const { given } = api;
      const day = DAYS[(new Date().getUTCDay() + 3) % 7];
      const hours = JSON.stringify([{ days: [day], from: '10:00', to: '10:01' }]);
      const child = await given.person('child', { viewing_hours: hours });
      const later = (await send('/libraries', { headers: child.headers })).error?.details['resumesAt'];
      expect(String(later)).to.match(/T10:00:00\.000Z$/);
      expect(new Date(String(later)).getUTCDay()).to.equal(DAYS.indexOf(day ?? ''));
      const member = await post('/libraries', (await given.member()).headers);
      expect(member.error?.details).to.deep.equal({ permission: 'library:manage' });
      const narrow = await given.key(await given.admin(), ['library:view']);
      const refused = await post('/libraries', narrow.headers);
      expect(refused.error?.details).to.deep.equal({ permission: 'library:manage', scopes: ['library:manage'] });
    });

    it('names the store that it waits for, and keeps the error of the store to itself', async () => {
      const { vitals } = api.deps;
      const state = (): never => {
        throw new ObjectsUnavailable('connect ECONNREFUSED 10.1.2.3:9000');
      };
      api.deps.vitals = { ...vitals, state };
      const { status, headers, error } = await send('/server/health').finally(() => {
        api.deps.vitals = vitals;
      });
      expect([status, error?.details, headers.get('retry-after')]).to.deep.equal([503, { waitingFor: 'objects' }, '2']);
      expect(JSON.stringify(error)).to.not.include('10.1.2.3');
    });

    it('reports every fault of a query at once, those of the sort too', async () => {
      const { headers } = await api.given.admin();
      const { status, error } = await send('/scans?limit=0&sort=queuedAt,-nothing,queuedAt,durationMs&odd=1', {
        headers,
      });
      expect(status).to.equal(400);
      const issues = error?.details['issues'] as { path: string[]; code: string }[];
      expect(issues.map(({ path, code }) => `${path.join('.')} ${code}`)).to.have.members([
        'query.odd unknown_field',
        'query.limit too_small',
        'query.sort unknown_field',
        'query.sort too_big',
        'query.sort duplicate',
      ]);
    });

    it('returns the rest of its minute to a key', async () => {
      const key = await api.given.key(await api.given.admin(), ['library:view'], { per_minute: 2 });
      const answers = [];
      for (let i = 0; i < 3; i += 1) answers.push(await send('/libraries', { headers: key.headers }));
      expect(answers.map((one) => one.status)).to.deep.equal([200, 200, 429]);
      expect(answers.map((one) => one.headers.get('x-ratelimit-remaining'))).to.deep.equal(['1', '0', '0']);
      expect(Number(answers[2]?.headers.get('retry-after'))).to.be.within(1, 60);
    });

    it('returns it to every key with every answer: of public operations, refusals, 304, and the operator too', async () => {
      const key = await api.given.key(await api.given.admin(), ['library:view'], { per_minute: 7 });
      const left = (answer: { headers: Headers }) =>
        ['limit', 'remaining', 'reset'].map((name) => Number(answer.headers.get(`x-ratelimit-${name}`)));
      const etag = (await send('/branding', { headers: key.headers })).headers.get('etag') ?? '';
      const answers = [
        await send('/server/info', { headers: key.headers }),
        await send('/auth/options', { headers: key.headers }),
        await send('/branding', { headers: { ...key.headers, 'if-none-match': etag } }),
        await send('/users', { headers: key.headers }),
        await send(`/libraries/${newId()}`, { headers: key.headers }),
        await send('/libraries?no=such', { headers: key.headers }),
        await send('/server/health', { headers: key.headers }),
      ];
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 304, 403, 404, 400, 429]);
      expect(answers.map((answer) => left(answer).slice(0, 2))).to.deep.equal(
        [5, 4, 3, 2, 1, 0, 0].map((remaining) => [7, remaining]),
      );
      for (const answer of answers) expect(left(answer)[2]).to.be.within(1, 60);
      const operator = { authorization: `Bearer ${api.operatorKey}` };
      expect(left(await send('/libraries', { headers: operator }))[0]).to.equal(10_000);
      const nobody = await send('/server/info', { headers: { authorization: `Bearer foyer_${'a'.repeat(43)}` } });
      expect([nobody.status, nobody.headers.get('x-ratelimit-limit')]).to.deep.equal([200, null]);
    });
  });

  describe('cookie and bearer', () => {
    it('takes a cookie for reading, and for a change only with the header that no other site can send', async () => {
      const admin = await api.given.admin();
      const cookie = cookieOf(admin);
      expect((await send('/libraries', { headers: { cookie } })).status).to.equal(200);
      const forged = await post('/libraries', { cookie }, '{"name":"Forged","type":"movies"}');
      expect([forged.status, forged.error?.details]).to.deep.equal([403, { header: 'X-Client-Id' }]);
      const own = await post('/libraries', { cookie, 'x-client-id': 'a'.repeat(20) }, '{"name":"Own","type":"movies"}');
      expect(own.status).to.equal(201);
      const bearer = { authorization: admin.headers['authorization'] ?? '' };
      expect((await post('/libraries', bearer, '{"name":"Bearer","type":"movies"}')).status).to.equal(201);
    });

    it('goes by the bearer where both come, and never by a key in a cookie', async () => {
      const [admin, member] = [await api.given.admin(), await api.given.member()];
      const both = { cookie: cookieOf(admin), authorization: member.headers['authorization'] ?? '' };
      expect((await post('/libraries', { ...both, 'x-client-id': 'a'.repeat(20) })).status).to.equal(403);
      const key = await api.given.key(admin, ['library:view']);
      expect((await send('/libraries', { headers: { cookie: cookieOf(key) } })).error?.code).to.equal(
        'AUTH_TOKEN_INVALID',
      );
      const secure = { cookie: cookieOf(admin).replace('foyer_', '__Host-foyer_') };
      expect((await send('/libraries', { headers: secure })).status, 'the name of TLS, without TLS').to.equal(401);
    });
  });

  describe('other origins', () => {
    it('may call when the settings name them, and get no cookie right', async () => {
      const preflight = await send('/libraries', {
        method: 'OPTIONS',
        headers: { origin: ORIGIN, 'access-control-request-method': 'POST' },
      });
      expect(preflight.status).to.equal(204);
      expect(preflight.headers.get('access-control-allow-origin')).to.equal(ORIGIN);
      expect(preflight.headers.get('access-control-allow-headers'))
        .to.include('Authorization')
        .and.include('X-Client-Id');
      expect(preflight.headers.get('access-control-allow-credentials')).to.equal(null);
      const refused = await send('/libraries', { headers: { origin: ORIGIN } });
      expect([refused.status, refused.headers.get('access-control-allow-origin')]).to.deep.equal([401, ORIGIN]);
      expect(refused.headers.get('vary')).to.include('Origin');
    });

    it('get nothing otherwise', async () => {
      for (const origin of ['https://evil.example', `${ORIGIN}.evil.example`, 'null', `${ORIGIN}/`, '*']) {
        for (const method of ['OPTIONS', 'GET']) {
          const { headers } = await send('/libraries', { method, headers: { origin } });
          expect(headers.get('access-control-allow-origin'), origin).to.equal(null);
          expect(headers.get('access-control-allow-headers'), origin).to.equal(null);
        }
      }
    });
  });

  it('answers HEAD as GET without the body, and 304 to a caller that has the same', async () => {
    const whole = await api.fetch('/api/v1/openapi.json');
    const length = Buffer.byteLength(await whole.text());
    const etag = whole.headers.get('etag') ?? '';
    const head = await api.fetch('/api/v1/openapi.json', {
      method: 'HEAD',
      headers: { 'accept-encoding': 'identity' },
    });
    expect([head.status, head.headers.get('etag'), await head.text()]).to.deep.equal([200, etag, '']);
    expect(Number(head.headers.get('content-length'))).to.equal(length);
    for (const method of ['GET', 'HEAD']) {
      const same = await api.fetch('/api/v1/openapi.json', { method, headers: { 'if-none-match': etag } });
      expect([same.status, await same.text()]).to.deep.equal([304, '']);
    }
    const other = await api.fetch('/api/v1/openapi.json', { headers: { 'if-none-match': '"other"' } });
    expect(other.status).to.equal(200);
    const admin = await api.given.admin();
    expect((await api.fetch('/api/v1/libraries', { method: 'HEAD', headers: admin.headers })).status).to.equal(200);
    expect((await api.fetch('/api/v1/libraries', { method: 'HEAD' })).status).to.equal(401);
  });

  describe('bodies', () => {
    /** A body of `size` bytes whose length is not announced. */
    const chunked = (size: number): Promise<{ status: number; body: string }> =>
      new Promise((resolve, reject) => {
        void api.given.admin().then(({ headers }) => {
          const options = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } };
          const asking = request(`${api.url}/api/v1/libraries`, options, (answer) => {
            text(answer).then((body) => resolve({ status: answer.statusCode ?? 0, body }), reject);
          });
          asking.on('error', reject);
          asking.write('"');
          asking.end(Buffer.alloc(size, 'x'));
        });
      });

    it('over the limit are rejected in words, with or without an announced length', async () => {
      const { headers } = await api.given.admin();
      const declined = await post('/libraries', headers, JSON.stringify({ name: 'x'.repeat(1 << 20) }));
      expect([declined.status, declined.error?.details]).to.deep.equal([413, { maxBytes: 1 << 20 }]);
      const answer = await chunked(3 << 20);
      expect([answer.status, answer.body.includes('PAYLOAD_TOO_LARGE')]).to.deep.equal([413, true]);
    });

    it('must be JSON in UTF-8, and declare it', async () => {
      const { headers } = await api.given.admin();
      for (const body of ['{', 'null x', '\u0000'])
        expect((await post('/libraries', headers, body)).status).to.equal(400);
      const plain = await post(
        '/libraries',
        { ...headers, 'content-type': 'text/plain' },
        '{"name":"x","type":"movies"}',
      );
      expect(plain.status).to.equal(400);
      const polluted = await post('/libraries', headers, '{"name":"Proto","type":"movies","__proto__":{"admin":true}}');
      expect(polluted.status).to.equal(201);
      expect(({} as { admin?: boolean }).admin).to.equal(undefined);
    });
  });

  it('refuses text that Postgres could not keep, in every part of a request, naming where', async () => {
    const { headers } = await api.given.admin();
    const issues = async (sent: ReturnType<typeof send>): Promise<unknown> => {
      const { status, error } = await sent;
      return {
        status,
        issues: ((error?.details['issues'] ?? []) as { path: unknown; code: string }[]).map(({ path, code }) => [
          path,
          code,
        ]),
      };
    };
    const refused = (path: string[]) => ({ status: 400, issues: [[path, 'not_text']] });
    const named = (name: string) => post('/libraries', headers, `{"name":"${name}","type":"movies"}`);
    for (const half of ['a\\u0000', '\\ud83d', '\\udc00b'])
      expect(await issues(named(half)), half).to.deep.equal(refused(['body', 'name']));
    expect((await named('\\ud83d\\udc00')).status).to.equal(201);
    const sent = await issues(send('/scans?cursor=%00', { headers }));
    expect(sent).to.deep.equal(refused(['query', 'cursor']));
  });

  it('takes a word of an address for no parameter, in any method', async () => {
    const { headers } = await api.given.admin();
    const id = ABSENT;
    const answer = await send(`/libraries/${id}/trash/restore`, { method: 'DELETE', headers });
    expect([answer.status, answer.error?.code]).to.deep.equal([405, 'METHOD_NOT_ALLOWED']);
    expect(answer.headers.get('allow')).to.equal('POST');
    expect((await send(`/libraries/${id}/trash/${id}`, { method: 'DELETE', headers })).status).to.equal(404);
  });

  it("carries a request id of its own, or the caller's when that has the right shape", async () => {
    const refused = await send('/libraries', { headers: { 'x-request-id': 'mine-1' } });
    expect([refused.headers.get('x-request-id'), refused.error?.requestId]).to.deep.equal(['mine-1', 'mine-1']);
    const odd = await send('/libraries', { headers: { 'x-request-id': 'a b<c>' } });
    expect(odd.headers.get('x-request-id'))
      .to.match(/^[0-9a-f-]{36}$/)
      .and.equal(odd.error?.requestId);
    expect(odd.headers.get('x-content-type-options')).to.equal('nosniff');
    expect(odd.headers.get('cache-control')).to.equal('no-store');
  });

  it('reveals nothing about an internal error', async () => {
    await api.deps.db.raw('alter table libraries rename to libraries_away');
    try {
      const broken = await send('/libraries', { headers: (await api.given.admin()).headers });
      expect(broken.status).to.equal(500);
      expect(JSON.stringify(broken.error)).to.not.include('libraries').and.not.include('relation');
    } finally {
      await api.deps.db.raw('alter table libraries_away rename to libraries');
    }
  });
});
