// The served description under Schemathesis: no answer that it does not declare, and no 5xx, whatever is sent.
import { expect } from 'chai';
import { z } from 'zod';
import { areas } from '#areas/index.ts';
import type { Area, Endpoint } from '#kernel/endpoint.ts';
import { credentialsOf } from '#kernel/openapi.ts';
import { permissions } from '#kernel/permissions.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';
import { schemathesis } from '#support/schemathesis.ts';

/**
 * That all that a schema allows is taken: where there are rules that no schema says (signed cursors, lists within a text, names taken,
 * two members of which one must be there) it does not hold. It does where the schema says the whole request.
 */
const BEYOND_SCHEMAS = 'positive_data_acceptance';

/** Nothing but ids, numbers, switches and words of a list. */
function isSaidWhole({ body, query }: Endpoint): boolean {
  if (body) return false;
  const { properties = {} } = query ? z.toJSONSchema(query, { io: 'input', unrepresentable: 'any' }) : {};
  return Object.values(properties).every((part) => {
    const { enum: words, format, type } = part as { enum?: unknown[]; format?: string; type?: string };
    return words !== undefined || format === 'uuid' || type === 'integer' || type === 'number' || type === 'boolean';
  });
}
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

  const words = (headers: Record<string, string>, names: readonly string[], without: readonly string[]): string[] => [
    // By the name that the check of missing credentials takes away.
    ...['-H', `Authorization: ${headers['authorization']}`],
    ...['-H', `X-Client-Id: ${headers['x-client-id'] ?? 'fuzz-client-00001'}`],
    ...['--checks', 'all', ...without, '--phases', 'examples,coverage,fuzzing'],
    ...['--max-examples', '8', '--seed', '20261121', '--continue-on-failure', '-w', '1'],
    ...['--suppress-health-check', 'all', '--request-timeout', '30', '--generation-database', 'none'],
    ...['--max-response-time', '15'], // testWebhook waits up to 12 s for the receiver
    ...names.flatMap((name) => ['--include-operation-id', name]),
  ];
  const run = async (who: Person, named: readonly Endpoint[], without: readonly string[]): Promise<number> => {
    if (named.length === 0) return 0;
    const names = named.map((one) => one.operationId);
    const { ok, told, cases } = await schemathesis(api.url, words(who.headers, names, without));
    expect(ok, told.slice(-20_000)).to.equal(true);
    console.log(`    ${names.length} operations, ${cases} cases${without.length > 0 ? '' : ', all checks'}`);
    return cases;
  };
  const fuzzed = async (who: Person, named: readonly Endpoint[]): Promise<number> => {
    const { whole = [], more = [] } = Object.groupBy(named, (one) => (isSaidWhole(one) ? 'whole' : 'more'));
    return (await run(who, whole, [])) + (await run(who, more, ['--exclude-checks', BEYOND_SCHEMAS]));
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
