// Libraries of made-up titles, and somebody who is signed in.
import type { BrowserContext } from 'playwright-core';
import type { Api } from '#support/api.ts';
import { type GivenLibrary, givenLibrary } from '#support/given-items.ts';
import { openApp } from './page.ts';
import { OWNER } from './server.ts';

const LETTERS = 26;

/** Films whose titles begin with each letter in turn: `A film 26`, `B film 1`, … */
export async function filmLibrary({ deps: { db } }: Api, count: number, name = 'Films'): Promise<GivenLibrary> {
  const counts = JSON.stringify({ movie: count });
  const library = await givenLibrary(db, 'movies', { item_counts: counts });
  await db('libraries').where({ id: library.id }).update({ name, name_folded: name.toLowerCase() });
  await db.transaction(async (transaction) => {
    await transaction.raw('set local statement_timeout = 0');
    await transaction.raw(
      `insert into items (id, library_id, type, top, identity_key, title, sort_title, year, runtime_ms, added_at)
       select gen_random_uuid(), ?, 'movie', true, 'film-' || n, chr(65 + n % ?) || ' film ' || n,
         lower(chr(65 + n % ?) || ' film ' || lpad(n::text, 7, '0')), 1950 + n % 70, 5400000, timestamptz '2020-01-01' + n * interval '1 minute'
       from generate_series(1, ?) n`,
      [library.id, LETTERS, LETTERS, count],
    );
  });
  await db.raw('analyze items');
  return library;
}

/** The state of a browser in which OWNER is signed in. */
export async function signedIn(api: Api): Promise<Awaited<ReturnType<BrowserContext['storageState']>>> {
  const app = await openApp(api.url, '/sign-in');
  const { page } = app;
  await page.fill('[name=username]', OWNER.username);
  await page.fill('[name=password]', OWNER.password);
  await page.click('button[type=submit]');
  await page.waitForSelector('h1:has-text("Home")');
  const state = await app.context.storageState();
  await app.close();
  return state;
}
