// The served description under Schemathesis: no answer that it does not declare, and no 5xx, whatever is sent.
import { expect } from 'chai';
import { areas } from '#areas/index.ts';
import { permissions } from '#identity/permissions.ts';
import type { Area, Endpoint } from '#kernel/endpoint.ts';
import { credentialsOf } from '#kernel/openapi.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';
import { schemathesis } from '#support/schemathesis.ts';

/** Its own check of what a schema allows; ours is the same but for BEYOND (test/support/schemathesis_hooks.py). */
const REPLACED = ['--exclude-checks', 'positive_data_acceptance'];

/**
 * Refusals of what the schema allows, by their code: anywhere, `@` the last part of their path, or below a path. Why no schema can
 * tell them is in hack/decisions/057.
 */
const BEYOND = [
  'too_big: Too big: expected int to be <=9007199254740991',
  ...`
    not_text unknown_moment invalid_union@since control_character too_big@name too_small@licence too_big@sort
    one_of exactly_one exclusive conflict required duplicate in_both overlap needs_restricted
    unknown_library unknown_folder unknown_account unknown_principal unknown_item unknown_image not_a_video too_small@expiresAt too_big@expiresAt in_future
    wrong_password wrong_challenge invalid_token unknown_redirect bad_cursor
    unknown_type unknown_event unknown_agent unknown_quality fixed_channel unknown_field@0 unknown_field@1 unknown_field@2 /body/value /body/settings/email.
    unknown_time_zone bad_time_zone bad_cron bad_day bad_path bad_key not_a_path invalid_url invalid_address invalid_format@email
    invalid_format@to malformed
    unknown_theme unknown_token bad_value contrast_unreadable`
    .trim()
    .split(/\s+/),
];
/** Of these nothing is taken: a token of a provider, a credential that a device signs, all libraries in their order. */
const UNTAKEN = ['POST /auth/oidc/logout', 'POST /auth/passkeys', 'PUT /libraries/order'];

/** A stream has no end. */
const LEFT_OUT = ['streamEvents'];
/** They end the session, or its token, that everything else needs, so each has one of its own. */
const ENDING = ['logout', 'refreshSession', 'endSession', 'endOtherSessions', 'selectProfile'];

const operations = (areas as readonly Area[]).flatMap((area) => area.endpoints);
const forPeople = operations.filter((one) => !credentialsOf(one).includes('key') && !('anyone' in one.access));

const elsewhere = ({ operationId }: Endpoint): boolean => [...LEFT_OUT, ...ENDING].includes(operationId);

describe('the description under Schemathesis', function () {
  this.timeout(900_000);
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
    // By the name that the check of missing credentials takes away.
    ...['-H', `Authorization: ${headers['authorization']}`],
    ...['-H', `X-Client-Id: ${headers['x-client-id'] ?? 'fuzz-client-00001'}`],
    ...['--checks', 'all', ...REPLACED, '--phases', 'examples,coverage,fuzzing'],
    ...['--max-examples', '8', '--seed', '20261121', '--continue-on-failure', '-w', '1'],
    ...['--suppress-health-check', 'all', '--request-timeout', '30', '--generation-database', 'none'],
    ...['--max-response-time', '15'], // testWebhook waits up to 12 s for the receiver
    ...names.flatMap((name) => ['--include-operation-id', name]),
  ];
  const fuzzed = async (who: Person, named: readonly Endpoint[]): Promise<number> => {
    const names = named.map((one) => one.operationId);
    const { ok, told, cases, untaken } = await schemathesis(api.url, words(who.headers, names), BEYOND);
    expect(ok, told.slice(-20_000)).to.equal(true);
    expect(UNTAKEN).to.include.members(untaken);
    console.log(`    ${names.length} operations, ${cases} cases, all checks`);
    return cases;
  };

  it('holds for a key of the owner with every scope', async () => {
    const key = await api.given.key(owner, [...permissions], { per_minute: 10_000 });
    const named = operations.filter((one) => !forPeople.includes(one) && !elsewhere(one));
    expect(await fuzzed(key, named)).to.be.greaterThan(3000);
  });

  it('holds for a signed-in owner, where no key is taken', async () => {
    const named = forPeople.filter((one) => !elsewhere(one));
    expect(await fuzzed(owner, named)).to.be.greaterThan(500);
    const { status } = await api.as(owner).getMe();
    expect(status, 'signed in to the end').to.equal(200);
  });

  for (const name of ENDING)
    it(`holds for ${name}, of a session of its own`, async () => {
      const named = operations.filter((one) => one.operationId === name);
      expect(await fuzzed(await api.given.admin(), named)).to.be.greaterThan(10);
    });
});
