// Walks the whole app as one person and presses every control.
import { expect } from 'chai';
import { startRelay } from '#platform/relay.ts';
import type { Api } from '#support/api.ts';
import { givenCredit, givenFile, givenItem, givenLibrary, givenShow, givenTag } from '#support/given-items.ts';
import { type Stage, worker } from '#support/hls-session.ts';
import { atEnd } from '#support/stores.ts';
import { Explorer } from './explore.ts';
import { addFilm, shelf } from './films.ts';
import { openSignedIn } from './player.ts';
import { OWNER, ownedServer } from './server.ts';

const PASSWORD = 'another good one';
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const hour = (ahead: number): string => `${String((new Date().getUTCHours() + ahead + 24) % 24).padStart(2, '0')}:00`;
const hours = (from: number, to: number) => ({
  viewing_hours: JSON.stringify([{ days: DAYS, from: hour(from), to: hour(to) }]),
  hours_zone: 'UTC',
});
/** Ends the sign-in, takes libraries and titles from the rest of the walk, or needs a window that the browser of the test lacks. */
const NEVER =
  /\|(Sign out|Move .*to the trash|Move anyway|Full screen|Picture in picture)|^\/admin\/libraries \S*\|Delete\|/i;

const mostOf = (kind: string): number => ({ '/item/:id': 6, '/library/:id': 2 })[kind] ?? 1;

interface Somebody {
  role?: 'admin' | 'member' | 'child' | 'guest';
  /** Columns of the account. */
  row?: Record<string, unknown>;
  /** Only the page that says until when. */
  closed?: true;
  access?: 'one library';
  /** Watches as a second profile of the account. */
  second?: true;
}

const PEOPLE = {
  owner: {},
  admin: { role: 'admin' },
  member: { role: 'member' },
  'a child': { role: 'child', row: { age_limit: 12 } },
  'a guest': { role: 'guest' },
  'a member within viewing hours': { role: 'member', row: hours(-1, 2) },
  'a member outside viewing hours': { role: 'member', row: hours(2, 3), closed: true },
  'a member with one library': { role: 'member', access: 'one library' },
  'a second profile': { role: 'member', second: true },
} satisfies Record<string, Somebody>;

/** Tests that no control leads these people to a refusal or a missing page. */
export function walksAs(...people: (keyof typeof PEOPLE)[]): void {
  describe('what each role can press', function () {
    this.timeout(600_000);
    let api: Api;
    let films: string;

    before(async () => {
      api = await ownedServer();
      worker({ ...api.deps, environment: {} } as Stage);
      const relay = startRelay(api.deps.config.databaseUrl, api.deps.redis, api.deps.log);
      atEnd(() => relay.stop());
      const { db } = api.deps;
      const place = await shelf(api);
      films = place.library.id;
      const item = { age_years: 6 };
      const text = '1\n00:00:00,000 --> 00:00:19,000\nGuten Tag\n';
      const sidecars = [{ name: 'film.de.srt', text, codec: 'subrip' as const, language: 'de' }];
      const film = await addFilm(api, place, {
        name: 'film.mp4',
        title: 'Film',
        seconds: 20,
        item,
        sidecars,
        chapters: [0, 10],
      });
      await givenTag(db, place.library, film.itemId, ['genre', 'Drama']);
      await givenCredit(db, film.itemId, { name: 'Ana Example', character: 'The keeper' });
      const unavailable = await givenItem(db, place.library, { title: 'Away', top: true, ...item });
      await givenFile(db, place.library, unavailable);
      const shows = await givenLibrary(db, 'shows', {
        item_counts: JSON.stringify({ show: 1, season: 1, episode: 2 }),
      });
      await givenShow(db, shows, { seasons: 1, episodes: 2, title: 'Show' });
    });
    beforeEach(() => api.deps.redis.flushdb()); // ten sign-ins a minute are the limit

    /** Each walk takes minutes, and a credential fifteen. */
    async function ownersHeaders(): Promise<Record<string, string>> {
      const client = { 'x-client-id': 'test-client-of-the-owner', 'x-client-name': 'Test' };
      const { body } = await api.anyone.login({ headers: client, body: OWNER });
      return { authorization: `Bearer ${body.accessToken}` };
    }

    async function account(who: string, { role, row, access, second }: Somebody): Promise<typeof OWNER> {
      if (!role) return OWNER;
      const login = { username: who.replaceAll(' ', '-'), password: PASSWORD };
      const headers = await ownersHeaders();
      const body = { ...login, role, mustChangePassword: false };
      const created = await api.anyone.createUser({ headers, body });
      expect(created.status, who).to.equal(201);
      const { id } = created.body;
      if (row) await api.deps.db('accounts').where({ id }).update(row);
      if (access) {
        const draft = { libraries: { mode: 'only', ids: [films] }, hideUnrated: false, viewingHours: [] };
        expect((await api.anyone.setUserAccess({ headers, params: { id }, body: draft })).status).to.equal(200);
      }
      if (second)
        await api.deps.db('profiles').insert({ id: crypto.randomUUID(), account_id: id, name: 'Small', main: false });
      return login;
    }

    for (const who of people)
      it(`is never refused nor missing, as ${who}`, async () => {
        const somebody: Somebody = PEOPLE[who];
        const isOpen = !somebody.closed;
        const login = await account(who, somebody);
        const app = await openSignedIn(api.url, '/', { login });
        const explorer = new Explorer(app.page, NEVER);
        await explorer.walk(['/', '/search?q=fil'], mostOf);
        expect(explorer.refused).to.deep.equal([]);
        const plays = explorer.visited.some((path) => path.startsWith('/play/'));
        expect({ plays, presses: explorer.presses > 50 }).to.deep.equal({ plays: isOpen, presses: isOpen });
        await app.close();
      });
  });
}
