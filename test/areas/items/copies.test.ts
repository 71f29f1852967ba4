import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { cell } from '#areas/items/copies/exports.ts';
import { ABSENT } from '#support/answers.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import {
  type GivenLibrary,
  givenFile,
  givenItem,
  givenLibrary,
  givenMany,
  givenState,
  givenTag,
} from '#support/given-items.ts';

const textOf = (body: unknown): string => (body as Buffer).toString('utf8');

describe('copies of a library', () => {
  let api: Api;
  let member: Person;

  before(async () => {
    api = await startApi();
    member = await api.given.member();
  });

  describe('listLibraryChanges', () => {
    const bump = async (library: GivenLibrary, id: string, more: object = {}): Promise<void> => {
      const { db } = api.deps;
      const [row] = await db('libraries')
        .where({ id: library.id })
        .increment('change_seq', 1)
        .returning<{ change_seq: number }[]>('change_seq');
      await db('items')
        .where({ id })
        .update({ change_seq: row?.change_seq, updated_at: new Date(), ...more });
    };

    it('sends additions, changes, removals and own state, one entry an item, and continues from its cursor', async () => {
      const { db } = api.deps;
      const library = await givenLibrary(db, 'movies');
      const old = await givenItem(db, library, { added_at: new Date('2020-01-01') });
      const gone = await givenItem(db, library, { added_at: new Date('2020-01-01') });
      const changes = (query: Record<string, string | number>) =>
        api.as(member).listLibraryChanges({ params: { id: library.id }, query });
      const start = await changes({});
      expect(start.body.items).to.deep.equal([]);
      let since = start.body.page.cursor ?? '';

      await bump(library, old);
      await bump(library, old, { title: 'Again' });
      const added = await givenItem(db, library);
      await bump(library, added);
      await bump(library, gone, { trashed_at: new Date() });
      const [{ change_seq: seq } = { change_seq: 0 }] = await db('libraries')
        .where({ id: library.id })
        .increment('change_seq', 1)
        .returning<{ change_seq: number }[]>('change_seq');
      const purged = ABSENT;
      await db('library_removals').insert({ library_id: library.id, seq, item_id: purged });
      await givenState(db, library, {
        profileId: member.profileId,
        itemId: old,
        favorite: true,
        updated_at: new Date(Date.now() + 5),
      });

      const seen: string[][] = [];
      for (let more = true; more; ) {
        const { status, body } = await changes({ since, limit: 2, state: 'true' });
        expect(status, JSON.stringify(body)).to.equal(200);
        seen.push(...body.items.map((one) => [one.change, one.itemId]));
        since = body.page.cursor ?? '';
        more = body.page.hasMore;
      }
      expect(seen).to.deep.equal([
        ['updated', old],
        ['added', added],
        ['deleted', gone],
        ['deleted', purged],
        ['state', old],
      ]);
      expect((await changes({ since, state: 'true' })).body.items).to.deep.equal([]);
      expect((await changes({ since: 'nonsense' })).status).to.equal(400);
    });

    it('does not accept a cursor of a month ago', async () => {
      const { db } = api.deps;
      const library = await givenLibrary(db, 'movies');
      const { writeCursor } = await import('#kernel/page.ts');
      const since = writeCursor(api.deps.keys, `listLibraryChanges|${library.id}|${member.profileId}`, {
        values: [0, Date.now() - 31 * 86_400_000, new Date(0).toISOString(), library.id],
        id: library.id,
      });
      const { status, body } = await api
        .as(member)
        .listLibraryChanges({ params: { id: library.id }, query: { since } });
      expect(status).to.equal(409);
      expect(JSON.stringify(body)).to.include('cursor-expired');
    });
  });

  describe('exportLibraryItems', () => {
    it('streams every item as a line and the count at the end', async () => {
      const { db } = api.deps;
      const library = await givenLibrary(db, 'movies');
      await givenMany(db, library, 2300);
      const id = await givenItem(db, library, { title: 'Known' });
      await givenTag(db, library, id, ['genre', 'Drama']);
      await givenFile(db, library, id, { path: 'k.mkv' });
      const lines = async (person: Person, query: Record<string, string> = {}) => {
        const { body } = await api.as(person).exportLibraryItems({ params: { id: library.id }, query });
        return textOf(body)
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as Record<string, unknown>);
      };
      const all = await lines(member);
      expect(all.pop()).to.deep.equal({ end: true, count: 2301 });
      const ids = all.map((line) => String(line.id));
      expect(ids).to.deep.equal([...new Set(ids)].sort());
      const known = all.find((line) => line.id === id);
      expect(known).to.deep.include({ title: 'Known', genres: ['Drama'] });
      expect(known).not.to.have.property('paths');
      const [managed] = await lines(await api.given.admin(), { filter: 'title:eq:known', fields: 'title,paths' });
      expect(managed).to.deep.equal({ title: 'Known', paths: [`media/${library.id}/k.mkv`] });
      const wrong = await api.as(member).exportLibraryItems({ params: { id: library.id }, query: { fields: 'paths' } });
      expect(wrong.status).to.equal(400);
    });

    it('writes CSV whose cells no spreadsheet takes for a formula', async () => {
      const { db } = api.deps;
      const library = await givenLibrary(db, 'movies');
      await givenItem(db, library, { title: '=1+"2",3' });
      const { body } = await api
        .as(member)
        .exportLibraryItems({ params: { id: library.id }, query: { format: 'csv', fields: 'title,year' } });
      expect(textOf(body)).to.equal(`title,year\r\n"'=1+""2"",3",\r\n`);
      expect(['+1', '-1', '@x', '\tx', '\rx'].map(cell)).to.deep.equal(["'+1", "'-1", "'@x", "'\tx", `"'\rx"`]);
      expect(cell(-1)).to.equal('-1');
    });

    it('sends the count in a trailer, which a cut export lacks', async () => {
      const { db } = api.deps;
      const library = await givenLibrary(db, 'movies');
      await givenMany(db, library, 1200);
      const send = async (format: string, method = 'GET') => {
        const url = `${api.url}/api/v1/libraries/${library.id}/export?format=${format}`;
        const sent = request(url, { method, headers: member.headers }).end();
        const [response] = (await once(sent, 'response')) as [IncomingMessage];
        const body = await text(response);
        return { response, body };
      };
      for (const format of ['csv', 'ndjson']) {
        const { response, body } = await send(format);
        expect(response.headers.trailer).to.equal('X-Count');
        expect(response.trailers).to.deep.equal({ 'x-count': '1200' });
        expect(body.trimEnd().split('\n')).to.have.length(1201);
      }
      const head = await send('csv', 'HEAD');
      expect([head.response.statusCode, head.body]).to.deep.equal([200, '']);
      expect((await send('csv')).response.statusCode, 'the HEAD leaves no export running').to.equal(200);
      // The snapshot is lost in the middle.
      const large = await givenLibrary(db, 'movies');
      await givenMany(db, large, 12_000);
      const sent = request(`${api.url}/api/v1/libraries/${large.id}/export?format=ndjson`, {
        headers: member.headers,
      }).end();
      const [cut] = (await once(sent, 'response')) as [IncomingMessage];
      await once(cut, 'readable');
      await db.raw(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()`);
      const error = await text(cut).catch((reason: Error) => reason);
      expect(error).to.be.instanceOf(Error);
      expect(cut.trailers).to.deep.equal({});
    });

    it('runs one export an account, and frees it when the reader disconnects', async () => {
      const { db } = api.deps;
      const library = await givenLibrary(db, 'movies');
      await givenMany(db, library, 3000);
      const leaving = new AbortController();
      const path = `/api/v1/libraries/${library.id}/export`;
      const reading = await api.fetch(path, { headers: member.headers, signal: leaving.signal });
      const reader = reading.body?.getReader();
      await reader?.read();
      const second = await api.fetch(path, { headers: member.headers });
      expect(second.status, await second.text()).to.equal(429);
      leaving.abort();
      let status = 429;
      for (let tries = 0; status === 429 && tries < 100; tries++) {
        const again = await api.fetch(path, { headers: member.headers });
        ({ status } = again);
        await again.text();
        if (status === 429) await new Promise((resolve) => setTimeout(resolve, 50));
      }
      expect(status).to.equal(200);
    });
  });
});
