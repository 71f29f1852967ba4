// Who may call each operation: every role and kind of key sends every served operation, compared with the words of the
// contract. Refusals that depend on the owner of the record are in record-matrix.test.ts. Each request carries an
// unknown parameter, so that a request that passes the check of permissions ends in 400 and changes nothing.

import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { areas } from '#areas/index.ts';
import type { Permission, Role } from '#identity/permissions.ts';
import type { Endpoint } from '#kernel/endpoint.ts';
import { ABSENT } from '#support/answers.ts';
import { type Answered, type Api, clientFor, startApi, type TestClient } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { type GivenItem, type GivenLibrary, givenFile, givenItem, givenLibrary } from '#support/given-items.ts';
import type { LooseDb } from '#support/loose.ts';

const ADMIN_ONLY: Permission[] = [
  'library:manage',
  'item:edit',
  'user:manage',
  'settings:manage',
  'scan:trigger',
  'session:manage',
  'job:manage',
];
const ALL: Permission[] = ['library:view', 'playlist:own', 'download:own', 'photo:upload', ...ADMIN_ONLY];
/** CONVENTIONS, Accounts: the table of roles and permissions. */
const HELD: Record<Role, Permission[]> = {
  owner: ALL,
  admin: ALL,
  member: ['library:view', 'playlist:own', 'download:own', 'photo:upload'],
  child: ['library:view', 'playlist:own'],
  guest: ['library:view'],
};
/** API keys: the scopes of the operator's own; user:manage by decision 016. */
const OPERATOR: Permission[] = [
  'user:manage',
  'library:view',
  'library:manage',
  'settings:manage',
  'scan:trigger',
  'job:manage',
  'session:manage',
];

interface Contracted {
  op: string;
  permission: Permission | 'public' | 'signed-in' | 'person' | 'owner';
  auth?: string[];
}
const folder = new URL('./areas/', import.meta.url);
const contract = new Map(
  readdirSync(folder)
    .flatMap((name) => (parse(readFileSync(new URL(name, folder), 'utf8')) as { endpoints: Contracted[] }).endpoints)
    .map((endpoint) => [endpoint.op, endpoint]),
);
const served = areas.flatMap((area) => area.endpoints as readonly Endpoint[]);

interface Actor {
  who: string;
  kind: 'nobody' | 'bearer' | 'cookie' | 'key';
  role?: Role;
  /** Of the account. */
  held: readonly Permission[];
  /** Of the key. */
  scopes?: readonly Permission[];
}
const KEYS: Actor[] = [
  ...ALL.map((scope) => ({ who: `key for ${scope}`, role: 'owner' as const, held: ALL, scopes: [scope] })),
  { who: 'key for all', role: 'owner' as const, held: ALL, scopes: ALL },
  { who: 'key for what a member may', role: 'member' as const, held: HELD.member, scopes: HELD.member },
  { who: 'key for more than a member may', role: 'member' as const, held: HELD.member, scopes: ALL },
  { who: "the operator's key", role: 'admin' as const, held: ALL, scopes: OPERATOR },
].map((key) => ({ ...key, kind: 'key' }));
const ACTORS: Actor[] = [
  { who: 'nobody', kind: 'nobody', held: [] },
  ...Object.entries(HELD).map(([role, held]): Actor => ({ who: role, kind: 'bearer', role: role as Role, held })),
  { who: 'owner by cookie', kind: 'cookie', role: 'owner', held: ALL },
  ...KEYS,
];

interface Refusal {
  status: number;
  code: string;
  details: Record<string, unknown>;
}
const forbidden = (details: Record<string, unknown>): Refusal => ({ status: 403, code: 'FORBIDDEN', details });

/** The words of the contract for the cell; undefined is allowed. */
function refusal({ permission, auth }: Contracted, { kind, role, held, scopes }: Actor): Refusal | undefined {
  if (permission === 'public') return undefined;
  if (kind === 'nobody') return { status: 401, code: 'UNAUTHENTICATED', details: {} };
  const people = permission === 'person' || permission === 'owner';
  const kinds = auth ?? (people ? ['cookie', 'bearer'] : ['cookie', 'bearer', 'key']);
  if (!kinds.includes(kind)) return forbidden({ by: kind === 'key' ? 'api-key' : 'credential' });
  if (permission === 'owner') return role === 'owner' ? undefined : forbidden({ by: 'owner' });
  if (permission === 'signed-in' || permission === 'person') return undefined;
  if (scopes && !scopes.includes(permission)) return forbidden({ permission, scopes: [permission] });
  return held.includes(permission) ? undefined : forbidden({ permission });
}

/** Required of all who may not manage libraries, before the library is read. */
const FURTHER: Record<string, Permission> = { addLibraryFolders: 'photo:upload' };

/** Refused to children and guests, by the restriction `subtitleTools`, before the item is read. */
const TOOLS = new Set([
  ...['autoFixSubtitleTiming', 'setSubtitleTiming', 'clearSubtitleTiming'],
  ...['findSubtitles', 'fetchSubtitle', 'generateSubtitles'],
]);
const WITHOUT_TOOLS = ['child', 'guest'];

/** Operations that are not refused before their parameters are parsed. */
const UNKNOWN_PARAMETER = { status: 400, code: 'VALIDATION_FAILED' };
/** An operation that requires a setup ticket refuses every request: this server has an owner. */
const SETUP_IS_OVER = { status: 409, code: 'SETUP_ALREADY_COMPLETE' };

interface RefusalBody {
  code: string;
  details: Record<string, unknown>;
}
const errorOf = ({ body }: Answered): RefusalBody => {
  const answered = Buffer.isBuffer(body) ? (JSON.parse(body.toString()) as unknown) : body;
  return (answered as { error: RefusalBody }).error;
};
/** The permission that the contract requires for an operation. */
const QUERIES: Record<string, Record<string, string | number>> = {
  getLibraryFacets: { fields: 'year' },
  getLibraryMap: { bbox: '0,0,1,1', zoom: 1 },
};
const PARAMS: Record<string, string> = { rendition: 'v0', segment: '0.m4s', sheet: '320-0.webp', kind: 'poster' };
const paramsOf = ({ path }: Endpoint, known: Record<string, string> = {}): Record<string, string> =>
  Object.fromEntries(
    [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, known[name] ?? PARAMS[name] ?? ABSENT]),
  );

describe('roles and endpoints', () => {
  let api: Api;
  const people = new Map<string, Person>();
  const clients = new Map<string, TestClient>();
  before(async () => {
    api = await startApi();
    for (const role of Object.keys(HELD) as Role[]) people.set(role, await api.given.person(role));
    people.set('child', await api.given.child());
    await api.deps.db('settings').insert({ key: 'network.trustedProxies', value: '["127.0.0.1/32"]' });
    await api.deps.settings.reload();
    for (const [i, actor] of ACTORS.entries()) {
      const from = { 'x-forwarded-for': `20.0.0.${i}` }; // attempts are counted by address before the content is read
      clients.set(actor.who, clientFor(api.url, { ...(await headersOf(actor)), ...from }));
    }
  });
  beforeEach(() => api.deps.redis.flushdb());

  async function headersOf({ who, kind, role, scopes }: Actor): Promise<Record<string, string>> {
    if (kind === 'nobody') return {};
    if (who === "the operator's key") return { authorization: `Bearer ${api.operatorKey}` };
    const person = people.get(role ?? 'guest') as Person;
    if (kind === 'key') return (await api.given.key(person, [...(scopes ?? [])])).headers;
    if (kind === 'bearer') return person.headers;
    const { authorization = '', ...rest } = person.headers;
    return { ...rest, cookie: `foyer_session=${authorization.slice('Bearer '.length)}` };
  }

  for (const endpoint of served) {
    it(`${endpoint.operationId}: ${contract.get(endpoint.operationId)?.permission}`, async () => {
      const expected = contract.get(endpoint.operationId) as Contracted;
      const cells = ACTORS.map(async (actor) => {
        const client = clients.get(actor.who) as TestClient;
        const call = client[endpoint.operationId as keyof TestClient];
        const answer = await call({ params: paramsOf(endpoint), query: { noSuchParameter: 1 } });
        const { code, details } = errorOf(answer);
        const refused = refusal(expected, actor);
        if (refused) expect({ status: answer.status, code, details }, actor.who).to.deep.equal(refused);
        else
          expect({ status: answer.status, code }, actor.who).to.deep.equal(
            endpoint.proof ? SETUP_IS_OVER : UNKNOWN_PARAMETER,
          );
      });
      await Promise.all(cells);
    });
  }

  describe('records that a person may not see', () => {
    const { paths } = JSON.parse(readFileSync('api/openapi.json', 'utf8')) as {
      paths: Record<string, Record<string, { requestBody?: { content: Record<string, { example?: unknown }> } }>>;
    };
    const bodyOf = ({ path, method }: Endpoint): unknown => {
      const content = paths[path.replace(/:(\w+)/g, '{$1}')]?.[method]?.requestBody?.content ?? {};
      const form = content['multipart/form-data'];
      return form && !content['application/json'] ? smallForm() : content['application/json']?.example;
    };
    const smallForm = (): FormData => {
      const form = new FormData();
      form.append('kind', 'poster');
      form.append('file', new Blob(['x']));
      return form;
    };
    /** Path parameters of hidden records, by the start of the path. */
    type Hidden = Record<string, Record<string, string>>;
    interface Hiding {
      from: readonly string[];
      hide: (db: LooseDb) => Promise<Hidden>;
    }
    const filmOf = async (db: LooseDb, library: GivenLibrary, item: GivenItem = {}): Promise<Hidden> => {
      const itemId = await givenItem(db, library, item);
      const fileId = await givenFile(db, library, itemId);
      return { '/items/:id': { id: itemId, fileId }, '/files/:fileId': { fileId } };
    };
    const hidings: Record<string, Hiding> = {
      'in a library of others': {
        from: ['member', 'child', 'guest', 'key for what a member may'],
        hide: async (db) => {
          const library = await givenLibrary(db, 'movies', { everyone: false });
          const film = await filmOf(db, library);
          return { ...film, '/libraries/:id': { id: library.id, itemId: film['/items/:id']?.['id'] ?? '' } };
        },
      },
      'above the age limit': {
        from: ['child'],
        hide: async (db) => filmOf(db, await givenLibrary(db, 'movies'), { age_years: 16 }),
      },
      'in the trash': {
        from: ['owner', 'admin', 'member'],
        hide: async (db) =>
          filmOf(db, await givenLibrary(db, 'movies'), { trashed_at: new Date(), trash_reason: 'deleted' }),
      },
    };

    /** The statements sent to the database meanwhile: an answer that takes as long reveals no more than its words. */
    async function asking<T>(work: () => Promise<T>): Promise<{ answer: T; statements: Set<string> }> {
      const statements = new Set<string>();
      const listen = ({ sql }: { sql: string }): void => void statements.add(sql);
      api.deps.db.on('query', listen);
      try {
        return { answer: await work(), statements };
      } finally {
        api.deps.db.off('query', listen);
      }
    }

    for (const [how, { from, hide }] of Object.entries(hidings))
      describe(how, () => {
        let hidden: Hidden;
        before(async () => {
          hidden = await hide(api.deps.db);
        });
        const viewers = ACTORS.filter(({ who }) => from.includes(who));
        for (const endpoint of served) {
          const expected = contract.get(endpoint.operationId) as Contracted;
          const [start] = /^\/(libraries|items)\/:id(?=\/|$)|^\/files\/:fileId/.exec(endpoint.path) ?? [];
          const further = FURTHER[endpoint.operationId];
          const reached = viewers.filter(
            (actor) =>
              start &&
              !refusal(expected, actor) &&
              (!further || actor.held.includes(further)) &&
              !(TOOLS.has(endpoint.operationId) && WITHOUT_TOOLS.includes(actor.who)),
          );
          if (!start || reached.length === 0 || (start === '/libraries/:id' && how !== 'in a library of others'))
            continue;
          it(`${endpoint.operationId} answers as for absent records`, async () => {
            for (const { who } of reached) {
              const client = clients.get(who) as TestClient;
              const input = { body: bodyOf(endpoint), query: QUERIES[endpoint.operationId] ?? {} };
              const answered = async (known: Record<string, string> = {}) => {
                const params = paramsOf(endpoint, known);
                const answer = await client[endpoint.operationId as keyof TestClient]({ params, ...input });
                expect(answer.status, who).to.equal(404);
                return { ...errorOf(answer), requestId: undefined };
              };
              const [absent, there] = [await asking(() => answered()), await asking(() => answered(hidden[start]))];
              expect(there.answer, who).to.deep.equal(absent.answer);
              const more = there.statements.difference(absent.statements);
              const again = more.size > 0 ? (await asking(() => answered(hidden[start]))).statements : more;
              expect([...again.intersection(more)], `${who}: statements for hidden records alone`).to.deep.equal([]);
            }
          });
        }
      });
  });
});
