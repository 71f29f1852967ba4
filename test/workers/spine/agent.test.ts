import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { saveSettings } from '#platform/settings.ts';
import { PIECE_BYTES, putPiece } from '#platform/spine/source.ts';
import { type Api, startApi } from '#support/api.ts';
import { film, makePack, trustedText } from '#support/spine-packs.ts';
import { createRefresh } from '#workers/metadata/refresh.ts';
import { createSpineImport } from '#workers/spine/import.ts';
import { newPlace, type Place } from '../scan/support.ts';

const show = { kind: 'show', ids: { wikidata: 'Q900', tvdb: '42' } };
const season = { kind: 'season', ids: { wikidata: 'Q901' } };
const works: object[] = [
  film(1, {
    ...{ title: 'Metropolis', year: 1927, aliases: [{ title: 'Metrópolis', language: 'es' }] },
    ...{ genres: ['Science fiction'], description: 'A film of 1927.', ids: { wikidata: 'Q151599', imdb: 'tt0017136' } },
    creators: [{ name: 'Fritz Lang', role: 'director', ids: { wikidata: 'Q19504' } }],
  }),
  film(2, { title: 'Metropolis', year: 2001, ids: { wikidata: 'Q837364' } }),
  { ...show, title: 'Serial', year: 1999 },
  { ...season, title: 'Season 1', parent: { ...show, title: 'Serial', index: 1 } },
  ...[1, 2, 3].map((n) => ({
    ...{ kind: 'episode', ids: { wikidata: `Q91${n}` }, title: `Part ${n}` },
    parent: { ...season, title: 'Season 1', index: n },
  })),
];

describe('the agent spine', function () {
  this.timeout(60_000);
  let api: Api;
  before(async () => {
    api = await startApi();
    await saveSettings(api.deps.db, { 'spine.trustedKeys': [trustedText], 'network.offline': true }, null);
    await api.deps.settings.reload();
  });
  const refresh = async (place: Place): Promise<void> => {
    await api.deps.db('jobs').where({ kind: 'metadata.refresh' }).update({ state: 'completed' });
    await createRefresh()({ libraryId: place.libraryId }, place.work());
  };
  const stateOf = async (): Promise<unknown> => {
    const { items } = (await api.as(await api.given.admin()).listMetadataAgents()).body;
    return items.find(({ id }) => id === 'spine')?.unavailableReason;
  };
  const load = async (place: Place): Promise<void> => {
    const { bytes, sha256 } = await makePack(works);
    const packId = newId();
    expect(bytes.length).to.be.below(PIECE_BYTES);
    await putPiece(api.deps.objects, { id: packId, number: 0 }, bytes);
    await createSpineImport()({ packId, sha256, importedBy: null, source: { uploaded: true } }, place.work());
  };

  it('identifies, describes and lists missing episodes from the pack alone, for items that were there before it', async () => {
    expect(await stateOf()).to.equal('disabled');
    const films = await newPlace('movies', {}, api);
    await films.put('Metrópolis (1927)/Metrópolis (1927).mkv');
    await films.put('Metropolis (2001)/Metropolis (2001).mkv');
    await films.put('Unknown (1950)/Unknown (1950).mkv');
    await films.scan();
    const shows = await newPlace('shows', {}, api);
    await shows.put('Serial (1999)/Season 01/Serial S01E02.mkv');
    await shows.scan();
    await load(films);
    expect(await stateOf()).to.equal(undefined);
    await refresh(films);
    await refresh(shows);
    const { db } = api.deps;
    const rows = await db('items').where({ library_id: films.libraryId, type: 'movie' }).orderBy('year').select('*');
    expect(rows.map(({ external_ids, matched }) => [external_ids, matched])).to.deep.equal([
      [{ wikidata: 'Q151599', imdb: 'tt0017136' }, true],
      [{}, false],
      [{ wikidata: 'Q837364' }, true],
    ]);
    expect(rows[0]).to.include({ overview: 'A film of 1927.' });
    expect(rows[0].origins).to.include({ overview: 'spine' });
    const episode = await db('items').where({ library_id: shows.libraryId, type: 'episode' }).first('title');
    expect(episode?.title).to.equal('Part 2');
    const top = await db('items').where({ library_id: shows.libraryId, type: 'show' }).first('details');
    const { knownChildren: children } = top.details as {
      knownChildren: { type: string; index: number; parentIndex?: number }[];
    };
    expect(children.map(({ type, parentIndex, index }) => `${type} ${parentIndex ?? ''} ${index}`)).to.deep.equal([
      'season  1',
      'episode 1 1',
      'episode 1 2',
      'episode 1 3',
    ]);
  });
});
