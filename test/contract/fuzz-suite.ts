// The served description under Schemathesis, in parts that run side by side: only declared responses, and no 5xx, to any request.
import { expect } from 'chai';
import { areas } from '#areas/index.ts';
import { MountSettings, S3Settings, SftpSettings, WebdavSettings } from '#areas/storage/kinds/settings.ts';
import { permissions } from '#identity/permissions.ts';
import type { Area, Endpoint } from '#kernel/endpoint.ts';
import { credentialsOf } from '#kernel/openapi.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';
import { schemathesis } from '#support/schemathesis.ts';

/** Each has a file, `fuzz-1.slow.test.ts` and so on (fuzz.test.ts). */
export const PARTS = 3;

/** Its own check that a schema is honoured; ours is the same but for BEYOND (test/support/schemathesis_hooks.py). */
const REPLACED = ['--exclude-checks', 'positive_data_acceptance'];

/**
 * Codes of refusals that a schema can express. Any other code stands for state, secrets, relations or foreign grammars, and its refusal is taken
 * (hack/decisions/057).
 */
const EXPRESSIBLE = `
  invalid_type invalid_value invalid_format invalid_union invalid_key invalid_element unrecognized_keys not_multiple_of too_big too_small custom
  unknown_field out_of_range`
  .trim()
  .split(/\s+/);
const SETTINGS = [MountSettings, S3Settings, WebdavSettings, SftpSettings].flatMap(({ shape }) => Object.keys(shape));
/** Exceptions among them: by code and message, by `@` the last part of their path, or below a path. */
const BEYOND = [
  'too_big: Too big: expected int to be <=9007199254740991',
  'too_small: Too small: expected int to be >=-9007199254740991',
  // Schemathesis generates characters that Unicode has not assigned, which \p{C} contains.
  'invalid_format: Invalid string: must match pattern /^[^\\p{C}]+$/u',
  ...`
    invalid_union@since too_big@name too_small@licence too_big@sort too_big@app too_big@limit
    too_small@expiresAt too_big@expiresAt unknown_field@0 unknown_field@1 unknown_field@2
    /body/value /body/settings/email. invalid_format@email invalid_format@to
    too_big@author too_big@license too_big@label /body/keywords/ too_small@author too_small@license too_small@label`
    .trim()
    .split(/\s+/),
  // Settings of storages by their kind: `oneOf` would hide the other members from generators of clients.
  ...['unrecognized_keys@settings', ...SETTINGS.map((name) => `/body/settings/${name}`)],
];
/**
 * Of these nothing is taken: a token of a provider, a credential that a device signs, all libraries in their order, members
 * that belong to an action, ids of two items of one type.
 */
const UNTAKEN = [
  ...['POST /auth/oidc/logout', 'POST /auth/passkeys', 'PUT /libraries/order'],
  ...['POST /items/bulk', 'POST /items/bulk/merge'],
];

/** A stream has no end. */
export const LEFT_OUT = ['streamEvents'];
/** They end the session, or its token, that everything else needs, so each has one of its own. */
const ENDING = ['logout', 'refreshSession', 'endSession', 'endOtherSessions', 'selectProfile'];

type Caller = 'key' | 'owner' | 'session';

/** Operations that one caller sends requests to. */
export interface Group {
  caller: Caller;
  operations: readonly Endpoint[];
  /** A run with no more requests fails. */
  least: number;
}

const operations = (areas as readonly Area[]).flatMap((area) => area.endpoints as readonly Endpoint[]);

function callerOf(one: Endpoint): Caller {
  if (ENDING.includes(one.operationId)) return 'session';
  return credentialsOf(one).includes('key') || 'anyone' in one.access ? 'key' : 'owner';
}

/** The operations of a part, from 1. Neighbours are in different parts, so that each part takes about the same time. */
export function groupsOf(part: number): Group[] {
  const endless = ({ operationId }: Endpoint): boolean => LEFT_OUT.includes(operationId);
  const all = operations.filter((one) => !endless(one)).filter((_, at) => at % PARTS === part - 1);
  const of = (caller: Caller): Endpoint[] => all.filter((one) => callerOf(one) === caller);
  const [key, own] = [of('key'), of('owner')];
  return [
    { caller: 'key', operations: key, least: key.length * 30 },
    { caller: 'owner', operations: own, least: own.length * 30 },
    ...of('session').map((one): Group => ({ caller: 'session', operations: [one], least: 10 })),
  ];
}

function titleOf({ caller, operations: [first] }: Group): string {
  if (caller === 'session') return `holds for ${first?.operationId}, of a session of its own`;
  return caller === 'key'
    ? 'holds for a key of the owner with every scope'
    : 'holds for a signed-in owner, where keys are refused';
}

/** The tests of one part. */
export function fuzzSuite(part: number): void {
  let api: Api;
  let owner: Person;
  before(async () => {
    api = await startApi();
    owner = await api.given.owner();
    const library = await givenLibrary(api.deps.db, 'movies');
    for (let i = 0; i < 20; i++)
      await givenItem(api.deps.db, library, { title: `Film ${i}`, year: 1950 + i, top: true });
  });

  const words = (headers: Record<string, string>, names: readonly string[]): string[] => [
    // By the name that the check of missing credentials removes.
    ...['-H', `Authorization: ${headers['authorization']}`],
    ...['-H', `X-Client-Id: ${headers['x-client-id'] ?? 'fuzz-client-00001'}`],
    ...['--checks', 'all', ...REPLACED, '--phases', 'examples,coverage,fuzzing'],
    ...['--max-examples', '8', '--seed', '20261121', '--continue-on-failure', '-w', '1'],
    ...['--suppress-health-check', 'all', '--request-timeout', '30', '--generation-database', 'none'],
    ...['--max-response-time', '15'], // testWebhook waits up to 12 s for the receiver
    ...names.flatMap((name) => ['--include-operation-id', name]),
  ];
  async function expectNoFailures(who: Person, { operations, least }: Group): Promise<void> {
    const names = operations.map((one) => one.operationId);
    const { ok, output, cases, untaken } = await schemathesis(api.url, words(who.headers, names), {
      expressible: EXPRESSIBLE,
      beyond: BEYOND,
    });
    expect(ok, output.slice(-20_000)).to.equal(true);
    expect(UNTAKEN).to.include.members(untaken);
    console.log(`    ${names.length} operations, ${cases} cases, all checks`);
    expect(cases).to.be.greaterThan(least);
  }
  const callers: Record<Caller, () => Promise<Person>> = {
    key: () => api.given.key(owner, [...permissions], { per_minute: 10_000 }),
    owner: async () => owner,
    session: () => api.given.admin(),
  };

  for (const group of groupsOf(part))
    it(titleOf(group), async function () {
      this.timeout(900_000);
      await expectNoFailures(await callers[group.caller](), group);
      const { status } = await api.as(owner).getMe();
      expect(status, 'the owner is still signed in').to.equal(200);
    });
}
