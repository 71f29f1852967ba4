// Addresses of the inside in every spelling, on every input that takes an address.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect } from 'chai';
import { Catalogues } from '#platform/agents/catalogues.ts';
import { agents } from '#platform/agents/index.ts';
import { resumeAgents } from '#platform/agents/pace.ts';
import { newId } from '#platform/ids.ts';
import { createOutbound, OutboundRefused } from '#platform/outbound.ts';
import { emit } from '#platform/outbox.ts';
import { enqueue } from '#platform/queue.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { patience } from '#support/catalogues/local.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';
import { innerAddresses } from '#support/inner-addresses.ts';
import { atEnd } from '#support/stores.ts';
import { createSpineCheck } from '#workers/spine/check.ts';
import type { Work } from '#workers/work.ts';

const SECRET = 'canary outside the media';
const LISTENERS = ['127.0.0.1', '::1'];

/** A server of the inside, on IPv4 and IPv6, that no request may reach. */
async function canary(): Promise<{ port: number; requests: () => number }> {
  let requests = 0;
  let port = 0;
  for (const host of LISTENERS) {
    const server = createServer((_request, response) => {
      requests += 1;
      response.end(SECRET);
    });
    server.listen(port, host);
    await once(server, 'listening');
    port = (server.address() as { port: number }).port;
    atEnd(() => server.close());
  }
  return { port, requests: () => requests };
}

describe('addresses of the inside', function () {
  this.timeout(600_000);
  let api: Api;
  let owner: TestClient;
  let inside: Awaited<ReturnType<typeof canary>>;
  let urls: string[];
  before(async () => {
    api = await startApi();
    owner = api.as(await api.given.owner());
    inside = await canary();
    urls = [...innerAddresses(inside.port), ...innerAddresses()];
  });
  afterEach(() => {
    expect(inside.requests()).to.equal(0);
  });

  /** Why it was not sent; an answer, or any other error, fails the test. */
  async function refused(work: Promise<unknown>, url: string): Promise<void> {
    const end = await work.catch((error: unknown) => error);
    const isRefusal = end instanceof OutboundRefused || (end as { code?: string }).code === 'ERR_INVALID_URL';
    expect(isRefusal, `${url}: ${String(end)}`).to.equal(true);
  }

  /** Settings with other values than those that are stored. */
  const withSettings = (values: Record<string, unknown>) => ({
    ...api.deps.settings,
    get: ((key: string) => values[key] ?? api.deps.settings.get(key as never)) as typeof api.deps.settings.get,
  });

  it('are more than 220 spellings, all refused by themselves', async () => {
    expect(innerAddresses().length).to.be.at.least(220);
    const outbound = createOutbound();
    for (const url of urls) await refused(outbound(url), url);
  });

  it('are refused as the end of a redirect', async () => {
    let next = '';
    const first = createServer((_request, response) => response.writeHead(302, { location: next }).end());
    first.listen(0, '127.0.0.1');
    await once(first, 'listening');
    atEnd(() => first.close());
    const { port } = first.address() as { port: number };
    const options = { allow: ['127.0.0.1/32'], maxRedirects: 3 };
    const way = createOutbound({
      lookup: async (name) => [{ address: name === 'films.example' ? '127.0.0.1' : '127.0.0.77', family: 4 }],
    });
    for (const url of urls.filter((one) => !/[\t\n]/.test(one) && !isOpened(one))) {
      next = Buffer.from(url).toString('latin1');
      await refused(way(`http://films.example:${port}/`, options), url);
    }
  });

  it('are refused as the pictures of items and people', async () => {
    const library = await givenLibrary(api.deps.db, 'movies');
    const film = await givenItem(api.deps.db, library, { top: true });
    const person = (await owner.createPerson({ body: { name: 'Ann' } })).body.id;
    for (const url of innerAddresses()) {
      await api.deps.redis.flushdb(); // or the limit of an hour would refuse them
      const answers = [
        await owner.importItemArtwork({ params: { id: film }, body: { kind: 'poster', url } }),
        await owner.setPersonPortrait({ params: { id: person }, body: { url } }),
      ];
      for (const answer of answers) expect(answer.status, url).to.equal(400);
    }
  });

  it('are refused as the address of a pack, and of the list of packs', async () => {
    const check = createSpineCheck();
    for (const url of innerAddresses(inside.port)) {
      await api.deps.redis.flushdb();
      expect((await owner.importSpinePack({ body: { url } })).status, url).to.be.within(400, 499);
      const work: Work = {
        ...{ ...api.deps, settings: withSettings({ 'spine.url': url, 'spine.auto': true }), emit, enqueue },
        ...{ jobId: newId(), attempt: 1, checkpoint: null, signal: AbortSignal.timeout(8000) },
        ...{ keep: async () => undefined, report: async () => undefined },
      };
      await refused(check({}, work), url);
    }
  });

  it('are refused as the address of a catalogue', async () => {
    const open = agents.filter(({ credentials }) => !credentials); // in turn, since each takes few requests a second
    expect(open.length).to.be.at.least(3);
    for (const [at, url] of innerAddresses(inside.port).entries()) {
      const agent = open[at % open.length] as (typeof open)[number];
      const settings = withSettings({ 'metadata.baseUrls': { [agent.id]: url } });
      await resumeAgents(api.deps.redis, [agent.id]);
      const query = new Catalogues({ ...api.deps, settings }).queryOf(agent, patience());
      const end = await query(agent.ping).catch((error: unknown) => error);
      expect(end, url).to.include({ reason: 'unreachable' });
    }
  });
});

/** 127.0.0.1 itself is what the redirect comes from. */
function isOpened(url: string): boolean {
  const { hostname, username } = URL.canParse(url) ? new URL(url) : { hostname: '', username: '' };
  return username === '' && ['127.0.0.1', '[::ffff:7f00:1]'].includes(hostname);
}
