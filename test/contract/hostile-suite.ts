// Every operation under hostile requests: a concurrent probe waits no longer than this, in CPU time of the event loop.
import { mkdirSync } from 'node:fs';
import { expect } from 'chai';
import { areas } from '#areas/index.ts';
import type { Endpoint } from '#kernel/endpoint.ts';
import { newId } from '#platform/ids.ts';
import { type Api, startApi } from '#support/api.ts';
import { longestProbeMs, type Watched } from '#support/cpu.ts';
import type { Person } from '#support/given.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';
import { PATIENCE } from '#support/patience.ts';
import { startApiProcess } from '#support/processes.ts';
import { type Amount, type Attack, attacksOn, type Known, pathOf } from './hostile.ts';

const MOST_MS = 100 * PATIENCE;
/** A stream has no end: it is left after a while. */
const ENDLESS = '/api/v1/events';

const operations = areas.flatMap((area) => area.endpoints as readonly Endpoint[]);

/** Sends the attacks to every operation. */
export function hostileSuite(amount: Amount): void {
  let api: Api;
  let own: Watched;
  let owner: Person;
  let known: Known;
  before(async () => {
    api = await startApi();
    mkdirSync(api.config.scratchDir, { recursive: true });
    await api.deps.db('settings').insert({ key: 'network.trustedProxies', value: '["127.0.0.1/32"]' });
    owner = await api.given.owner();
    const library = await givenLibrary(api.deps.db, 'movies');
    for (let i = 0; i < 20; i++)
      await givenItem(api.deps.db, library, { title: `Film ${i}`, year: 1950 + i, top: true });
    const item = await api.deps.db('items').first<{ id: string }>('id');
    known = {
      '/items/:id': item.id,
      '/libraries/:id': library.id,
      '/users/:id': owner.accountId,
      '/auth/profiles/:id': owner.profileId,
    };
    own = await startApiProcess(api);
    await longestProbeMs(own, () => sendAll('/api/v1/items', 'get', [{ name: 'first' }])); // code is compiled once
  });

  let senders = 0;
  /** From an address of its own, so that no limit by address hides the checks behind it. */
  async function send(path: string, method: string, { query, headers, body }: Attack) {
    senders += 1;
    const limitMs = path === ENDLESS ? 500 : 30_000;
    const forwarded = `20.${(senders >> 16) & 255}.${(senders >> 8) & 255}.${senders & 255}`;
    const response = await fetch(`${own.url}${path}${query === undefined ? '' : `?${query}`}`, {
      method: method.toUpperCase(),
      headers: { 'x-forwarded-for': forwarded, ...owner.headers, ...headers },
      ...(body !== undefined && { body: body as string }),
      signal: AbortSignal.timeout(limitMs),
    });
    await response.arrayBuffer();
    return response.status;
  }

  async function sendAll(path: string, method: string, attacks: readonly Attack[]): Promise<void> {
    for (const attack of attacks) {
      const status = await send(path, method, attack).catch((error: unknown) => {
        if (path !== ENDLESS) throw error;
      });
      expect(status, attack.name).to.not.be.oneOf([413, 500]);
    }
  }

  it('an address of any length and signs delays no other request', async () => {
    const signs = ['/', '%2f', '%', '%80', 'a', ':', '.', '/a', '/..', ';', '//items', 'é'];
    const starts = ['/', '/api/v1/', '/api/v1/items/', `/api/v1/stream/${newId()}/`];
    const paths = starts.flatMap((start) => signs.map((sign) => start + encodeURI(sign.repeat(12_000 / sign.length))));
    for (const path of paths)
      expect(await longestProbeMs(own, () => send(path, 'get', { name: path })), path.slice(0, 80)).to.be.lessThan(
        MOST_MS,
      );
  });

  for (const [at, endpoint] of operations.entries()) {
    it(`${endpoint.operationId} delays no other request`, async function () {
      this.timeout(120_000);
      const { method } = endpoint;
      owner = await api.given.again(owner);
      const harmless = (attack: Attack): boolean =>
        method === 'get' || attack.body !== undefined || attack.query !== undefined;
      const attacks = attacksOn(endpoint, at, amount).map((attack) =>
        harmless(attack) ? attack : { ...attack, query: 'unknown=1' },
      );
      const path = pathOf(endpoint, known);
      if ((await longestProbeMs(own, () => sendAll(path, method, attacks))) <= MOST_MS) return;
      // Several may have come together: each names itself.
      for (const attack of attacks)
        expect(await longestProbeMs(own, () => sendAll(path, method, [attack])), attack.name).to.be.lessThan(MOST_MS);
    });
  }
}
