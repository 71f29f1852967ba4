// A refresh of many films while its process is killed: no film is left out, and few requests are made twice.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { makeDue } from '#areas/editing/public.ts';
import { type Api, startApi } from '#support/api.ts';
import { placeAgents } from '#support/catalogues/local.ts';
import { startTmdb, tmdbKey } from '#support/catalogues/tmdb.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';
import { storesOf } from '#support/processes.ts';
import { eventually } from '#support/stores.ts';

/** The item of this campaign is 10,000: `FOYER_FILMS=10000`. */
const FILMS = Number(process.env['FOYER_FILMS'] ?? 400);
/** Items that a process refreshes at once (workers/metadata/refresh.ts). */
const AT_ONCE = 4;
/** Items that are made at once. */
const GIVEN = 100;
const CHILD = new URL('../support/refresh-child.ts', import.meta.url).pathname;

describe('refreshing through faults', function () {
  this.timeout(600 * FILMS);
  let api: Api;
  let tmdb: Awaited<ReturnType<typeof startTmdb>>;

  before(async () => {
    api = await startApi({ FOYER_TMDB_API_KEY: tmdbKey });
    const extra = Array.from({ length: FILMS }, (_, n) => ({ id: 50_000 + n, title: `Film ${n}`, date: '2001-02-03' }));
    tmdb = await startTmdb({ extra });
    await placeAgents(api, { tmdb: tmdb.url });
  });

  const start = (libraryId: string) =>
    spawn(process.execPath, [CHILD, libraryId], {
      env: { ...process.env, ...storesOf(api.config), FOYER_TMDB_API_KEY: tmdbKey },
      stdio: ['ignore', 'ignore', 'inherit'],
    });

  it('describes each film once, but for those in flight when the process is killed', async () => {
    const { db } = api.deps;
    const settings = JSON.stringify({ agents: ['tmdb'] });
    const library = await givenLibrary(db, 'movies', { settings });
    const ids: string[] = [];
    for (let at = 0; at < FILMS; at += GIVEN) {
      const numbers = Array.from({ length: Math.min(GIVEN, FILMS - at) }, (_, n) => at + n);
      const made = numbers.map((n) =>
        givenItem(db, library, { title: `Film ${n}`, top: true, external_ids: { tmdb: String(50_000 + n) } }),
      );
      ids.push(...(await Promise.all(made)));
    }
    await db('item_layers')
      .whereIn('item_id', ids)
      .update({
        fields: db.raw(
          `fields || jsonb_build_object('externalIds', (select external_ids from items i where i.id = item_layers.item_id))`,
        ),
      });
    await makeDue(db, ids, { by: 'scan' });
    const described = async (): Promise<number> =>
      (await db('items').where({ library_id: library.id }).whereRaw("origins ->> 'releasedOn' = 'tmdb'").pluck('id'))
        .length;
    for (const until of [FILMS / 4, FILMS / 2]) {
      const child = start(library.id);
      await eventually(async () => (await described()) > until, 150 * FILMS);
      child.kill('SIGKILL');
      await once(child, 'exit');
      // the items that it had taken, ten minutes later
      await db('item_matches').where({ library_id: library.id }).whereNotNull('due_at').update({ due_at: new Date() });
    }
    expect(await described()).to.be.below(FILMS);
    const [code] = await once(start(library.id), 'exit');
    expect(code).to.equal(0);
    expect(await described()).to.equal(FILMS);
    expect(await db('item_matches').where({ library_id: library.id }).whereNotNull('due_at')).to.deep.equal([]);
    expect(tmdb.repeated().length).to.be.at.most(2 * AT_ONCE);
    expect(tmdb.at('/3/movie/').length).to.be.within(FILMS, FILMS + 2 * AT_ONCE);
  });
});
