// Holds the fake catalogues to the real protocols: clients that others wrote for the real ones run on them.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import igdb from 'igdb-api-node';
import { MusicBrainzApi } from 'musicbrainz-api';
import { TMDB } from 'tmdb-ts';
import { WBK } from 'wikibase-sdk';
import { igdbKeys, startIgdb } from '#support/catalogues/keyed.ts';
import { OK_COMPUTER, startMusicBrainz } from '#support/catalogues/musicbrainz.ts';
import { startWikidata } from '#support/catalogues/open-data.ts';
import { startOpenSubtitles, subtitlesKey, subtitlesUser } from '#support/catalogues/opensubtitles.ts';
import { startTmdb, tmdbKey } from '#support/catalogues/tmdb.ts';
import { pythonPackage } from '#support/python-package.ts';

describe('clients of others on the fake catalogues', function () {
  this.timeout(120_000);

  it('TMDB: tmdb-ts searches page by page, describes a film, a season and a person', async () => {
    const extra = Array.from({ length: 45 }, (_, n) => ({ id: 2000 + n, title: `Sequel ${n}`, date: '2001-01-01' }));
    const catalogue = await startTmdb({ extra });
    const here: typeof fetch = (address, init) => {
      const url = new URL(address instanceof Request ? address.url : address);
      return fetch(`${catalogue.url}${url.pathname}${url.search}`, init);
    };
    const client = new TMDB(tmdbKey, { fetch: here });
    const found = await client.search.movies({ query: 'Heat', year: 1995 });
    expect(found.results.map(({ id, release_date: date }) => [id, date])).to.deep.equal([[949, '1995-12-15']]);
    const pages = await Promise.all([1, 2, 3].map((page) => client.search.movies({ query: 'sequel', page })));
    expect(pages.map(({ results }) => results.length)).to.deep.equal([20, 20, 5]);
    expect(pages[2]).to.deep.include({ page: 3, total_pages: 3, total_results: 45 });
    const film = await client.movies.details(949, ['credits', 'images', 'external_ids', 'release_dates', 'keywords']);
    expect(film).to.deep.include({ imdb_id: 'tt0113277', runtime: 170 });
    expect(film.credits.cast[0]).to.deep.include({ name: 'Al Pacino', character: 'Lt. Vincent Hanna', order: 0 });
    expect(film.images.posters[0]?.file_path).to.equal('/m949.jpg');
    expect(film.external_ids.wikidata_id).to.equal('Q42198');
    const known = await client.find.byExternalId('tt5753856', { external_source: 'imdb_id' });
    expect(known.tv_results.map(({ id }) => id)).to.deep.equal([70523]);
    const season = await client.tvSeasons.details({ tvShowID: 70523, seasonNumber: 2 });
    expect(season.episodes.map(({ episode_number: number }) => number)).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8]);
    expect((await client.people.details(1158)).name).to.equal('Al Pacino');
    const refused = await new TMDB('another', { fetch: here }).movies.details(949).catch((error: unknown) => error);
    expect(refused).to.deep.include({ success: false, status_code: 7 });
    const missing = await client.movies.details(1).catch((error: unknown) => error);
    expect(missing).to.deep.include({ success: false, status_code: 34 });
  });

  it('MusicBrainz: musicbrainz-api searches, looks up and browses', async () => {
    const { url } = await startMusicBrainz();
    const app = { appName: 'Foyer', appVersion: '1', appContactInfo: 'foyer@example.org' };
    const client = new MusicBrainzApi({ ...app, baseUrl: url, disableRateLimiting: true });
    const { artists, count } = await client.search('artist', { query: 'artist:Radiohead' });
    expect([count, artists[0]?.name, artists[0]?.score]).to.deep.equal([1, 'Radiohead', 100]);
    const { releases } = await client.search('release', { query: 'release:"OK Computer"' });
    expect(releases.map(({ id }) => id)).to.include(OK_COMPUTER);
    const release = await client.lookup('release', OK_COMPUTER, ['artist-credits', 'labels', 'release-groups']);
    expect(release['artist-credit']?.[0]?.artist.name).to.equal('Radiohead');
    expect(release['label-info']?.[0]?.label?.name).to.equal('Parlophone');
    const artist = release['artist-credit']?.[0]?.artist.id ?? '';
    const groups = await client.browse('release-group', { artist });
    expect([groups['release-group-count'], groups['release-groups'][0]?.title]).to.deep.equal([1, 'OK Computer']);
    // It passes the answer of a miss on.
    expect(await client.lookup('artist', OK_COMPUTER)).to.include({ error: 'Not Found' });
  });

  it('Wikidata: wikibase-sdk finds by words and by statement, and simplifies what it reads', async () => {
    const catalogue = await startWikidata();
    const { simpleClient, client } = WBK({ instance: catalogue.url, sparqlEndpoint: `${catalogue.url}/sparql` });
    const words = await simpleClient.searchEntities({ search: 'Heat', language: 'en' });
    expect(words.map(({ id }) => id)).to.deep.equal(['Q42198']);
    expect(await simpleClient.cirrusSearchPages({ haswbstatement: 'P345=tt0113277' })).to.deep.equal(['Q42198']);
    const read: unknown = await simpleClient.getEntities({ ids: ['Q42198', 'Q220698'] });
    const { Q42198: film } = read as Record<string, SimpleEntity>;
    expect(film?.labels).to.deep.equal({ en: 'Heat' });
    expect(film?.claims).to.deep.include({ P345: ['tt0113277'], P57: ['Q220698'], P2047: [170] });
    expect(film?.claims['P161'], 'without the deprecated one').to.deep.equal(['Q41163', 'Q36949']);
    expect(film?.claims['P577']).to.include('1995-12-15T00:00:00.000Z');
    const before = catalogue.got.length;
    const { entities } = await client.getManyEntities({
      ids: Array.from({ length: 60 }, (_, n) => `Q${n + 1}` as const),
    });
    expect([Object.keys(entities).length, catalogue.got.length - before]).to.deep.equal([60, 2]);
  });

  it('IGDB: igdb-api-node searches and reads with a token of Twitch', async () => {
    const catalogue = await startIgdb();
    const query = new URLSearchParams({ client_id: igdbKeys.id, client_secret: igdbKeys.secret });
    const login = await fetch(`${catalogue.url}/oauth2/token?${query.toString()}&grant_type=client_credentials`, {
      method: 'POST',
    });
    const { access_token: token } = (await login.json()) as { access_token: string };
    const client = (given: string) => igdb.default(igdbKeys.id, given, { baseURL: `${catalogue.url}/v4` } as never);
    const fields = ['name', 'cover.image_id', 'first_release_date'];
    const found = await client(token).fields(fields).search('The Witcher 3').limit(10).request('/games');
    expect(found.data).to.have.nested.property('[0].cover.image_id', 'co1wyy');
    const one = await client(token).fields(fields).where('id = 1942').request('/games');
    expect(one.data).to.have.nested.property('[0].first_release_date', 1_431_993_600);
    const none = await client(token).fields(fields).search('Nothing').request('/games');
    expect(none.data).to.deep.equal([]);
    const refused: unknown = await client('another')
      .fields(fields)
      .request('/games')
      .catch((error: unknown) => error);
    expect(refused).to.have.nested.property('response.status', 401);
  });

  it('OpenSubtitles: opensubtitlescom signs in, searches page by page and downloads', async () => {
    const text = '1\n00:00:01,000 --> 00:00:02,000\nHello\n';
    const uploads = Array.from({ length: 60 }, (_, n) => ({
      ...{ language: 'en', release: `Heat.1995.${n}`, imdb: 113277, tmdb: 949 },
      ...{ files: [{ id: 100 + n, bytes: text }] },
    }));
    const { main, state } = await startOpenSubtitles(uploads);
    const words = [main.url, subtitlesKey, subtitlesUser.username, subtitlesUser.password];
    const PYTHONPATH = await pythonPackage('opensubtitlescom', '0.1.5');
    const env = { ...process.env, PYTHONPATH };
    const { stdout } = await promisify(execFile)('python3', ['-c', SCRIPT, ...words], { env });
    expect(JSON.parse(stdout)).to.deep.equal({
      ...{ pages: 2, total: 60, first: 50, second: 10, file: 100, imdb: 113277, release: 'Heat.1995.0' },
      ...{ text: 'Hello', left: 19, refused: true },
    });
    expect([state.logins, state.remaining]).to.deep.equal([1, 19]);
  });
});

interface SimpleEntity {
  labels: Record<string, string>;
  claims: Record<string, unknown[]>;
}

const SCRIPT = `
import json, sys
from opensubtitlescom import OpenSubtitles
from opensubtitlescom.exceptions import OpenSubtitlesException
main, key, name, password = sys.argv[1:]
client = OpenSubtitles("Foyer v1.0", key)
client.base_url = main + "/api/v1"
host = client.login(name, password)["base_url"]
client.base_url = "http://" + host + "/api/v1"
first = client.search(imdb_id=113277, languages="en", query="heat")
second = client.search(imdb_id=113277, languages="en", page=2, query="heat")
one = first.data[0]
(line,) = client.download_and_parse(one)
other = OpenSubtitles("Foyer v1.0", "another")
other.base_url = client.base_url
try:
    other.search(query="heat")
    refused = False
except OpenSubtitlesException:
    refused = True
print(json.dumps({
    "pages": first.total_pages, "total": first.total_count, "first": len(first.data), "second": len(second.data),
    "file": one.file_id, "imdb": one.imdb_id, "release": one.release,
    "text": line.content, "left": client.user_downloads_remaining, "refused": refused,
}))
`;
