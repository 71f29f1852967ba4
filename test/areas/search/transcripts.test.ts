import { expect } from 'chai';
import { addKept, putKeptText } from '#areas/subtitles/public.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { workOf } from '#support/backups.ts';
import { type GivenLibrary, givenFile, givenItem, givenLibrary, givenShow } from '#support/given-items.ts';
import { enqueueDue } from '#workers/search/keeper.ts';
import { readTranscripts } from '#workers/search/transcripts-job.ts';

type Line = readonly [seconds: number, text: string];

const stamp = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(11, 23).replace('.', ',');
const srt = (lines: readonly Line[]): Buffer =>
  Buffer.from(lines.map(([at, text], i) => `${i + 1}\n${stamp(at)} --> ${stamp(at + 2)}\n${text}\n`).join('\n'));

describe('the search of transcripts', () => {
  let api: Api;
  let films: GivenLibrary;
  let me: TestClient;

  before(async () => {
    api = await startApi();
  });
  beforeEach(async () => {
    await api.deps.db.raw('truncate libraries cascade');
    await api.deps.redis.flushdb();
    films = await givenLibrary(api.deps.db, 'movies', { settings: JSON.stringify({ language: 'en' }) });
    me = api.as(await api.given.member());
  });

  interface Track {
    language?: string;
    generated?: boolean;
  }

  /** Adds a text that the server keeps to a file, and returns the id of its track. */
  async function spoken(
    fileId: string,
    lines: readonly Line[],
    { language = 'en', generated = false }: Track = {},
  ): Promise<string> {
    const text = { bytes: srt(lines), format: 'srt' as const, cueCount: lines.length };
    await putKeptText(api.deps.objects, text);
    const origin = generated
      ? { source: 'generated' as const, model: 'tiny', task: 'transcribe' as const }
      : { source: 'fetched' as const, provider: 'folder', providerFile: String(lines.length) + language, release: 'x' };
    return api.deps.db.transaction((transaction) =>
      addKept(transaction, text, {
        accountId: null,
        fileId,
        language,
        title: null,
        forced: false,
        hearingImpaired: false,
        origin,
      } as never),
    );
  }

  async function film(
    title: string,
    lines: readonly Line[],
    more: Record<string, unknown> = {},
  ): Promise<{ id: string; fileId: string; streamId: string }> {
    const id = await givenItem(api.deps.db, films, { title, top: true, ...more });
    const fileId = await givenFile(api.deps.db, films, id);
    return { id, fileId, streamId: await spoken(fileId, lines) };
  }

  const read = (): Promise<object> => readTranscripts({}, workOf(api));
  const found = async (q: string, query: Record<string, unknown> = {}, by = me) => {
    const { body } = await by.searchTranscripts({ query: { q, ...query } as never });
    return body.items.map(({ item, startMs, text }) => `${item.title} ${startMs / 1000} ${text}`);
  };

  it('finds the second at which words are spoken, in the language of the track', async () => {
    await film('Casablanca', [
      [10, 'Of all the <i>gin joints</i> in all the towns'],
      [14, 'in all the world, she walks into mine.'],
      [100, 'Round up the usual suspects &amp; friends.'],
    ]);
    const french = await givenItem(api.deps.db, films, { title: 'Le Corbeau', top: true });
    await spoken(await givenFile(api.deps.db, films, french), [[33, 'Nous avons cherché les suspects habituels.']], {
      language: 'fr',
    });
    await enqueueDue(api.deps);
    expect(await api.deps.db('jobs').where({ kind: 'search.transcripts' }).pluck('state')).to.deep.equal(['waiting']);
    expect(await read()).to.deep.equal({ files: 2, tracks: 2 });
    expect(await found('gin joint')).to.deep.equal(['Casablanca 10 Of all the gin joints in all the towns']);
    expect(await found('"towns in all"')).to.deep.equal(['Casablanca 10 Of all the gin joints in all the towns']);
    expect(await found('usual suspects')).to.deep.equal(['Casablanca 100 Round up the usual suspects & friends.']);
    expect(await found('suspect', { language: 'fr' })).to.deep.equal([
      'Le Corbeau 33 Nous avons cherché les suspects habituels.',
    ]);
    const { body } = await me.searchTranscripts({ query: { q: 'walks' } });
    expect(body.items[0]).to.deep.include({
      before: 'Of all the gin joints in all the towns',
      after: 'Round up the usual suspects & friends.',
      marks: [{ start: 22, length: 5 }],
      language: 'en',
      generated: false,
    });
    const all = (await me.searchAll({ query: { q: 'walks' } })).body;
    expect(all.transcripts).to.deep.include({ total: 1 });
    expect((await me.searchAll({ query: { q: 'walks', transcripts: false } })).body.transcripts).to.equal(undefined);
  });

  it('gathers hits of one item, and lists all of a single film by time, page by page', async () => {
    const lines = Array.from({ length: 12 }, (_, i): Line => [i * 40, `Rosebud number ${i}`]);
    const { id } = await film('Citizen Kane', lines);
    await film('The Sled', [[5, 'Rosebud']]);
    await read();
    const { body } = await me.searchTranscripts({ query: { q: 'rosebud', perItem: 2 } });
    expect(body.items.map(({ item }) => item.title).sort()).to.deep.equal(['Citizen Kane', 'Citizen Kane', 'The Sled']);
    expect(body.items.find(({ item }) => item.title === 'Citizen Kane')?.more).to.be.greaterThan(0);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = (
        await me.searchTranscripts({ query: { q: 'rosebud', itemId: id, limit: 5, ...(cursor && { cursor }) } })
      ).body;
      seen.push(...page.items.map(({ startMs, text }) => `${startMs / 1000} ${text}`));
      cursor = page.page.cursor ?? undefined;
    } while (cursor);
    expect(seen).to.deep.equal(lines.map(([at, text]) => `${at} ${text}`));
    expect(
      (await me.searchTranscripts({ query: { q: 'rosebud', sort: 'item', perItem: 1 } })).body.items.map(
        ({ item }) => item.title,
      ),
    ).to.deep.equal(['Citizen Kane', 'The Sled']);
  });

  it('follows the timing correction in force without reading the text again', async () => {
    const { id, streamId } = await film('M', [[60, 'Somebody whistles.']]);
    await read();
    const admin = api.as(await api.given.admin());
    const { status } = await admin.setSubtitleSync({ params: { id, streamId }, body: { offsetMs: 1500 } } as never);
    expect(status).to.equal(200);
    expect(await found('whistles')).to.deep.equal(['M 61.5 Somebody whistles.']);
  });

  it('takes texts of people before generated ones, and forgets tracks that are gone', async () => {
    const { db } = api.deps;
    const id = await givenItem(db, films, { title: 'Nosferatu', top: true });
    const fileId = await givenFile(db, films, id);
    await spoken(fileId, [[1, 'The generated sunrise']], { generated: true });
    await read();
    expect(await found('sunrise')).to.deep.equal(['Nosferatu 1 The generated sunrise']);
    const made = await spoken(fileId, [[2, 'The written sunrise']]);
    await read();
    expect(await found('sunrise')).to.deep.equal(['Nosferatu 2 The written sunrise']);
    await db('media_streams').where({ id: made }).delete();
    expect(await found('written')).to.deep.equal([]);
    await read();
    expect(await found('sunrise')).to.deep.equal(['Nosferatu 1 The generated sunrise']);
  });

  it('shows no words of hidden items, and none of a library that is left out', async () => {
    const { db } = api.deps;
    await film('Adult', [[1, 'The secret handshake']], { age_years: 18 });
    const shows = await givenLibrary(db, 'shows', { everyone: false });
    const { id, episodes } = await givenShow(db, shows, { title: 'Hidden', seasons: 1, episodes: 1 });
    await spoken(await givenFile(db, shows, episodes[0]?.[0] ?? ''), [[3, 'Another secret']]);
    await read();
    const child = api.as(await api.given.child());
    const admin = api.as(await api.given.admin());
    expect(await found('secret', {}, child)).to.deep.equal([]);
    expect((await child.searchAll({ query: { q: 'secret' } })).body.transcripts).to.equal(undefined);
    expect(await found('secret')).to.deep.equal(['Adult 1 The secret handshake']);
    expect(await found('secret', { itemId: id }, admin)).to.deep.equal(['S1E1 3 Another secret']);
    expect(await found('secret', { itemId: id })).to.deep.equal([]);
    await db('libraries')
      .where({ id: films.id })
      .update({ settings: JSON.stringify({ language: 'en', searchTranscripts: false }) });
    expect(await found('secret')).to.deep.equal([]);
  });
});
