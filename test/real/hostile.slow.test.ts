// Invalid input of every sort against the API: it refuses by the contract's envelope, reveals nothing about itself, and
// continues to serve.

import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import type { z } from 'zod';
import { areas } from '#areas/index.ts';
import { openTranscodeSession } from '#areas/streaming/public.ts';
import type { Endpoint } from '#kernel/endpoint.ts';
import { errorCodes } from '#kernel/errors.ts';
import { newId } from '#platform/ids.ts';
import { ABSENT } from '#support/answers.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { look, optionsFor } from '#support/hls-render.ts';
import { film, type Stage, worker } from '#support/hls-session.ts';
import { fixtures } from '../../hack/fixtures/index.ts';

interface HostileRequest {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}
interface Got {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

const endpoints = areas.flatMap((area) => area.endpoints as readonly Endpoint[]);
const NONE = ABSENT;
const LEAKS =
  /node_modules|node:internal|\/api\/(?:areas|kernel|platform)\/|\n\s+at |ENOENT|ENAMETOOLONG|SQLSTATE|syntax error at|select "|root:x:0/;

const TRICKS = [
  '..',
  '../../../../etc/passwd',
  '..%2f..%2f..%2fetc%2fpasswd',
  '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
  '%252e%252e%252fetc',
  '..%5c..%5cwindows',
  '%2fetc%2fpasswd',
  'file:%2f%2f%2fetc%2fpasswd',
  '%00',
  `${NONE}%00`,
  `${NONE}%0a`,
  '%ff%fe',
  '%',
  '%zz',
  '%c0%ae%c0%ae%2f',
  '-1',
  '0x10',
  '1e9',
  '99999999999999999999',
  'null',
  'undefined',
  '__proto__',
  'constructor',
  "'%20or%201=1--",
  '%F0%9F%8E%AC',
  '%E2%80%AE',
  '$%7Bjndi:x%7D',
  '*',
  ' '.replace(' ', '%20'),
  'a'.repeat(6000),
  '%2e'.repeat(2000),
];
const SEGMENTS = [
  'init.mp4%00',
  '../init.mp4',
  '-1.m4s',
  '1e1.m4s',
  '00.m4s',
  '999999999.m4s',
  '0.m4s%2f..',
  '0.exe',
  '.m4s',
  'v0',
  '0.vtt',
  '0.ts',
];

describe('an API under bad input', function () {
  this.timeout(240_000);
  let api: Api;
  let port: number;
  let owner: Person;
  let other: Person;
  let own: { fileId: string; itemId: string; stream: string };
  let hashed: string;

  before(async () => {
    const { made } = await fixtures();
    api = await startApi();
    port = Number(new URL(api.url).port);
    owner = await api.given.owner();
    other = await api.given.member();
    worker({ ...api.deps, environment: {} } as Stage);
    mkdirSync(join(api.mediaRoot, 'sub'));
    const path = join(api.mediaRoot, 'h264-aac-end.mp4');
    for (const name of ['h264-aac-end.mp4', 'sub/tiny.mkv']) {
      copyFileSync(join(made, name.replace('sub/', '')), join(api.mediaRoot, name));
    }
    const { fileId, itemId } = await film(api.deps.db, path, api.given.storageId);
    const options = { ...optionsFor(await look(path), { mode: 'copy', copyAudio: true }), fileId, itemId, ...owner };
    const { id } = await openTranscodeSession(api.deps.db, { ...options, playbackSessionId: newId(), subtitles: [] });
    own = { fileId, itemId, stream: id };
    hashed = treeHash(api.mediaRoot);
  });

  const send = ({ method = 'GET', path, headers = {}, body }: HostileRequest): Promise<Got> =>
    new Promise((done, fail) => {
      const sent = request({ host: '127.0.0.1', port, method, path, headers: { ...owner.headers, ...headers } });
      sent.once('response', (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.once('error', fail);
        answer.once('end', () =>
          done({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            text: Buffer.concat(chunks).toString('latin1'),
          }),
        );
      });
      sent.once('error', fail);
      sent.end(body);
    });

  /** A refusal by the contract; a success only where `mayPass`. */
  function expectRefused(got: Got, what: string, mayPass = false): void {
    expect(got.status, `${what}: ${got.text.slice(0, 300)}`).to.be.within(mayPass ? 200 : 400, 499);
    expect(got.text.includes(api.mediaRoot), `${what}: reveals a path`).to.equal(false);
    if (got.status < 400) return;
    expect(got.headers['content-type'], what).to.match(/^application\/json/);
    expect(got.text, what).not.to.match(LEAKS);
    const { error, ...rest } = JSON.parse(got.text) as { error: Record<string, unknown> };
    expect(rest, what).to.deep.equal({});
    expect(Object.keys(error), what).to.have.members(['code', 'message', 'details', 'requestId']);
    const known = errorCodes[error.code as keyof typeof errorCodes];
    expect(known?.status, `${what}: ${String(error.code)}`).to.equal(got.status);
    expect(known?.details.safeParse(error.details).success, `${what}: ${got.text.slice(0, 300)}`).to.equal(true);
    expect(got.headers['x-request-id'], what).to.equal(error.requestId);
  }

  const withParameter = (endpoint: Endpoint, name: string, trick: string): string =>
    endpoint.path.replace(/:(\w+)/g, (_, each: string) => (each === name ? trick : given(each)));
  const given = (name: string): string =>
    ({ id: own.stream, fileId: own.fileId, rendition: 'v0', segment: '0.m4s' })[name] ?? NONE;

  /** An invalid id gets the sheet of the server's default, so that no page stands unstyled. */
  const takesAnyId = ({ operationId }: Endpoint): boolean => operationId === 'getThemeStylesheet';

  for (const endpoint of endpoints.filter(({ path }) => path.includes(':'))) {
    it(`${endpoint.operationId} refuses tricks in its path`, async () => {
      const names = [...endpoint.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
      for (const name of names) {
        for (const trick of name === 'segment' ? [...TRICKS, ...SEGMENTS] : TRICKS) {
          const path = `/api/v1${withParameter(endpoint, name, trick)}`;
          // No client removes `..` here: it is one more name that does not exist, or another path.
          const got = await send({ method: endpoint.method.toUpperCase(), path });
          expectRefused(got, `${path.slice(0, 150)}`, takesAnyId(endpoint));
        }
      }
    });
  }

  for (const endpoint of endpoints.filter(({ body }) => body)) {
    it(`${endpoint.operationId} refuses bodies that are not its own`, async () => {
      const me = await api.given.admin();
      const path = `/api/v1${endpoint.path.replace(/:\w+/g, NONE)}`;
      for (const [what, body, more] of badBodies()) {
        const headers = { ...me.headers, 'content-type': 'application/json', ...more };
        const got = await send({ method: endpoint.method.toUpperCase(), path, headers, body });
        expectRefused(got, `${endpoint.operationId} ${what}`, what === 'proto');
      }
    });
  }

  it('refuses filters, sorts, cursors and parameters that make no sense', async () => {
    const { library_id: libraryId } = await api.deps.db('items').where({ id: own.itemId }).first('library_id');
    const lists = [
      `/libraries/${libraryId}/items`,
      '/items',
      '/scans',
      '/playback/sessions',
      `/libraries/${libraryId}/trash`,
    ];
    const word = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.constantFrom(
        'title:eq:a',
        'title',
        'year:gt:x',
        'a;b;c',
        ';;;',
        ':::',
        '\\',
        '\\;',
        'year:between:1',
        'genre:in:',
        '-',
        '--title',
        'random,random',
        'title,title',
        'eyJ',
        'e30.e30',
        '0',
        '-1',
        '1e3',
        '201',
        ' ',
        '\u0000',
        '\ud800',
        `${'x:eq:1;'.repeat(300)}`,
      ),
    );
    const names = fc.constantFrom('filter', 'sort', 'cursor', 'limit', 'include', 'fields', 'q', '__proto__', 'state');
    const requests = fc.tuple(
      fc.constantFrom(...lists),
      fc.array(fc.tuple(names, word), { minLength: 1, maxLength: 3 }),
    );
    const check = fc.asyncProperty(requests, async ([path, query]) => {
      const text = query.map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`).join('&');
      expectRefused(await send({ path: `/api/v1${path}?${text}` }), `${path}?${text}`.slice(0, 300), true);
    });
    await fc.assert(check, { numRuns: 400 });
  });

  for (const endpoint of endpoints.filter(({ method, query }) => method === 'get' && query)) {
    it(`${endpoint.operationId} takes no text in its query that no store could keep`, async () => {
      for (const name of Object.keys((endpoint.query as z.ZodObject).shape)) {
        const path = `/api/v1${endpoint.path.replace(/:(\w+)/g, (_, each: string) => given(each))}?${name}=%00`;
        expectRefused(await send({ path }), path);
      }
    });
  }

  it('refuses odd queries that are not even encoded well', async () => {
    for (const query of [
      'filter=%',
      'filter=%ff',
      'sort=%00',
      'a&b&c',
      'filter[]=x',
      'filter[a]=b',
      '&'.repeat(5000),
      'limit=1&limit=2',
    ]) {
      expectRefused(await send({ path: `/api/v1/items?${query}` }), query.slice(0, 40), true);
    }
  });

  it('answers for records of others as for absent ones, byte for byte', async () => {
    const refusalAt = async (path: string, method: string) => {
      const got = await send({ path, method, headers: { ...other.headers, 'x-request-id': 'same' } });
      expectRefused(got, path);
      return [got.status, got.text];
    };
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/master.m3u8'],
      ['GET', '/v0/index.m3u8'],
      ['GET', '/v0/segments/0.m4s'],
      ['GET', '/v0/segments/init.mp4'],
    ] as const) {
      const theirs = await refusalAt(`/api/v1/stream/${own.stream}${path}`, method);
      expect(theirs, path).to.deep.equal(await refusalAt(`/api/v1/stream/${NONE}${path}`, method));
      expect(theirs[0], path).to.equal(404);
    }
    const started = await api.as(owner).startPlayback({
      params: { id: own.itemId },
      body: { client: { builtIn: 'native' } },
    });
    const session = (started.body as { session?: { id: string } }).session?.id ?? NONE;
    for (const method of ['GET', 'DELETE']) {
      const theirs = await refusalAt(`/api/v1/playback/sessions/${session}`, method);
      expect(theirs).to.deep.equal(await refusalAt(`/api/v1/playback/sessions/${NONE}`, method));
    }
  });

  it('takes malformed ranges for none, and never more than the file', async () => {
    const size = statSync(join(api.mediaRoot, 'h264-aac-end.mp4')).size;
    for (const range of [
      'bytes',
      'bytes=',
      'bytes=-',
      'bytes=a-b',
      'bytes=5-2',
      'items=0-5',
      'bytes=0-,',
      'bytes=--5',
      'bytes=0-1-2',
      `bytes=${'0-1,'.repeat(500)}0-1`,
    ]) {
      const got = await send({ path: `/api/v1/files/${own.fileId}/stream`, headers: { range } });
      expect(got.status, range).to.equal(200);
      expect(got.text.length, range).to.equal(size);
    }
    for (const range of ['bytes=99999999999999999999-', `bytes=${size}-`, 'bytes=-0']) {
      expectRefused(await send({ path: `/api/v1/files/${own.fileId}/stream`, headers: { range } }), range);
    }
  });

  it('refuses confused credentials', async () => {
    const token = owner.headers.authorization?.replace('Bearer ', '') ?? '';
    const [head = '', payload = '', signature = ''] = token.split('.');
    const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
    const admin = Buffer.from(
      JSON.stringify({ ...JSON.parse(Buffer.from(payload, 'base64url').toString()), exp: 9e9 }),
    ).toString('base64url');
    for (const authorization of [
      '',
      'Bearer',
      'Bearer ',
      `Basic ${Buffer.from('a:b').toString('base64')}`,
      `Bearer ${none}.${payload}.`,
      `Bearer ${head}.${admin}.${signature}`,
      `Bearer ${head}.${payload}`,
      `Bearer ${token}x`,
      `Bearer foyer_${'a'.repeat(43)}`,
      'Bearer foyer_',
      `Bearer ${'a'.repeat(7000)}`,
      'Bearer ..',
      'Bearer null',
      `Bearer ${token}, Bearer ${token}`,
    ]) {
      const got = await send({ path: '/api/v1/libraries', headers: { authorization } });
      expectRefused(got, authorization.slice(0, 60));
      expect(got.status, authorization.slice(0, 60)).to.equal(401);
    }
    const cookies = [
      'foyer_session=',
      `foyer_session=${none}.${payload}.`,
      'foyer_session=a; foyer_session=b',
      `foyer_session="${'%00'.repeat(50)}"`,
      ';;;=;',
      `__Host-foyer_session=${token}`,
    ];
    for (const cookie of cookies) {
      const got = await send({ path: '/api/v1/libraries', headers: { authorization: '', cookie } });
      expectRefused(got, cookie.slice(0, 60));
    }
    const forged = {
      authorization: '',
      cookie: `foyer_session=${token}`,
      'x-client-id': '',
      'content-type': 'application/json',
    };
    const got = await send({ method: 'POST', path: '/api/v1/auth/logout', headers: forged });
    expect([401, 403], got.text).to.include(got.status);
    expectRefused(got, 'a cookie without X-Client-Id');
  });

  it('answers paths of any depth at once', async () => {
    for (const path of ['/a'.repeat(60), '/items'.repeat(200), `/stream/${'x/'.repeat(2000)}`, '//'.repeat(50)]) {
      expectRefused(await send({ path: `/api/v1${path}` }), path.slice(0, 30));
      expectRefused(await send({ path: `/api/v1${path}`, method: 'POST' }), path.slice(0, 30));
    }
  });

  it('still serves, and has changed nothing in the media folder', async () => {
    expect((await send({ path: '/api/v1/libraries' })).status).to.equal(200);
    expect((await send({ path: `/api/v1/stream/${own.stream}/v0/segments/0.m4s` })).status).to.equal(200);
    expect(treeHash(api.mediaRoot)).to.equal(hashed);
  });
});

function badBodies(): [string, string | Buffer, Record<string, string>][] {
  const deep = 20_000;
  return [
    ['nothing sensible', '"text"', {}],
    ['null', 'null', {}],
    ['a number', '1e400', {}],
    ['a list', '[{}]', {}],
    ['half a body', '{"a":', {}],
    ['wrong types', JSON.stringify({ a: { b: [null, 1e308, { c: [] }] }, id: {}, name: [], password: 5 }), {}],
    ['deep lists', `{"a":${'['.repeat(deep)}${']'.repeat(deep)}}`, {}],
    ['deep objects', `${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`, {}],
    ['too much', `{"a":"${'x'.repeat((1 << 20) + 10)}"}`, {}],
    ['many members', `{${Array.from({ length: 20_000 }, (_, i) => `"k${i}":0`).join(',')}}`, {}],
    ['broken UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), {}],
    ['proto', '{"__proto__":{"role":"owner"},"constructor":{"prototype":{"x":1}}}', {}],
    ['another type', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['no type', '{"zz":1}', { 'content-type': '' }],
    ['declared as packed', '{"zz":1}', { 'content-encoding': 'gzip' }],
  ];
}

/** Of every name, size and byte below the folder. */
function treeHash(folder: string): string {
  const hash = createHash('sha256');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => ({ entry, path: join(entry.parentPath, entry.name) }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  for (const { entry, path } of files) {
    hash.update(path.slice(folder.length)).update(String(statSync(path).mtimeMs));
    if (entry.isFile()) hash.update(readFileSync(path));
  }
  return hash.digest('hex');
}
