import { expect } from 'chai';
import fc from 'fast-check';
import { withEmbedded } from '#workers/scan/names/embedded.ts';
import { extraFile, extrasFolder } from '#workers/scan/names/extras.ts';
import { isPassedOver, kindOf } from '#workers/scan/names/kinds.ts';
import { groupFilms } from '#workers/scan/names/movies.ts';
import { readNfo } from '#workers/scan/names/nfo.ts';
import { partOf } from '#workers/scan/names/parts.ts';
import { readEpisode } from '#workers/scan/names/shows.ts';
import { pictureKind, readSidecar } from '#workers/scan/names/sidecars.ts';
import { readName, sortTitle, titleKey } from '#workers/scan/names/title.ts';
import { episodes, folders, noEpisodes, notSidecars, showExtras, sidecars, titles } from './names.corpus.ts';

describe('names', () => {
  it('has a corpus of 150 names at least', () => {
    expect(titles.length + folders.flatMap((f) => f.videos).length + episodes.length + sidecars.length).to.be.at.least(
      150,
    );
  });

  it('reads title, year and edition', () => {
    for (const [name, title, year, edition] of titles) {
      const read = readName(name);
      expect([read.title, read.year, read.edition], name).to.deep.equal([title, year, edition]);
    }
  });

  it('reads ids in every bracket', () => {
    expect(readName('Aliens (1986) [imdbid-tt0090605]').ids).to.deep.equal({ imdb: 'tt0090605' });
    expect(readName('Heat (1995) [tmdbid=949] {imdb-tt0113277}').ids).to.deep.equal({ tmdb: '949', imdb: 'tt0113277' });
    expect(readName('Heat (1995) [tt0113277]').ids).to.deep.equal({ imdb: 'tt0113277' });
  });

  it('groups the videos of a folder into films, versions, parts and extras', () => {
    for (const { folder, videos, films, extras = [] } of folders) {
      const groups = groupFilms({ folder, videos });
      const at = `${folder}: ${videos.join(', ')}`;
      expect(
        groups.films.map((f) => [f.named.title, f.named.year]),
        at,
      ).to.deep.equal(films.map((f) => [f.title, f.year]));
      for (const [i, film] of films.entries()) {
        const files = groups.films[i]?.files ?? [];
        expect(
          files.map((f) => f.name),
          at,
        ).to.deep.equal(film.files.map((f) => (typeof f === 'string' ? f : f[0])));
        for (const [j, wanted] of film.files.entries()) {
          expect(files[j]?.edition, at).to.equal(typeof wanted === 'string' ? undefined : wanted[1]);
          expect(files[j]?.part, at).to.equal(film.parts ? j + 1 : undefined);
        }
      }
      expect(
        groups.extras.map((e) => [e.name, e.kind]),
        at,
      ).to.deep.equal(extras);
    }
  });

  it('places episodes', () => {
    for (const [path, show, at, title] of episodes) {
      const read = readEpisode(path.split('/'));
      const end = read?.numberEnd === undefined ? '' : `-${read.numberEnd}`;
      const told = read?.date ?? `${read?.season}x${read?.number}${end}`;
      expect([read?.show.title, told, read?.title], path).to.deep.equal([show, at, title]);
    }
  });

  it('leaves alone what has no number', () => {
    for (const path of noEpisodes) expect(readEpisode(path.split('/')), path).to.equal(undefined);
  });

  it('gives extras of shows to their show', () => {
    for (const [path, show, kind] of showExtras) {
      const read = readEpisode(path.split('/'));
      expect([read?.show.title, read?.extra?.kind], path).to.deep.equal([show, kind]);
    }
  });

  it('reads language and flags of sidecars', () => {
    for (const [name, video, language, flags, title] of sidecars) {
      const read = readSidecar(name, video);
      const told = `${read?.default ? 'd' : ''}${read?.forced ? 'f' : ''}${read?.hearingImpaired ? 'h' : ''}`;
      expect([read?.language, told, read?.title], name).to.deep.equal([language, flags, title]);
    }
    for (const [name, video] of notSidecars) expect(readSidecar(name, video), name).to.equal(undefined);
  });

  it('knows local pictures', () => {
    expect(pictureKind('poster.jpg', 'Film')).to.deep.equal({ kind: 'poster', own: false });
    expect(pictureKind('Film-fanart.png', 'Film')).to.deep.equal({ kind: 'backdrop', own: true });
    expect(pictureKind('Film.jpg', 'Film')).to.deep.equal({ kind: 'thumb', own: true });
    expect(pictureKind('holiday.jpg', 'Film')).to.equal(undefined);
  });

  it('sorts without the article and compares without accents and signs', () => {
    expect(sortTitle('The Matrix')).to.equal('matrix');
    expect(sortTitle('Die Hard', 'en')).to.equal('die hard');
    expect(sortTitle('Die Verwandlung', 'de')).to.equal('verwandlung');
    expect(sortTitle('Die Hard', 'fr-CA')).to.equal('die hard');
    expect(sortTitle('The Matrix', 'fr')).to.equal('matrix');
    expect(sortTitle('L’Avventura', 'it-IT')).to.equal('avventura');
    expect(sortTitle("L'Enfant", 'fr')).to.equal('enfant');
    expect(sortTitle('Den goda viljan', 'sv')).to.equal('goda viljan');
    expect(sortTitle('Az', 'hu')).to.equal('az');
    expect(titleKey('WALL·E')).to.equal(titleKey('Wall-E'));
    expect(titleKey('Cafe\u0301')).to.equal(titleKey('Café'));
    expect(titleKey('★')).to.not.equal('');
  });

  it('passes over what is hidden or not finished', () => {
    for (const name of [
      '.DS_Store',
      'film.mkv.part',
      'film.mkv.crdownload',
      'film.mkv~',
      '@eaDir',
      '#recycle',
      'lost+found',
      'film.mkv.!qB',
    ]) {
      expect(isPassedOver(name), name).to.equal(true);
    }
    expect(isPassedOver('film.mkv')).to.equal(false);
  });

  it('never throws and always ends, whatever the name', () => {
    const name = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 400 }),
      fc.string({ unit: 'grapheme' }),
      fc.stringMatching(/^[sSeExX0-9.\-_ ()[\]]{0,60}$/),
    );
    fc.assert(
      fc.property(name, fc.array(name, { maxLength: 4 }), (one, path) => {
        const read = readName(one);
        expect(read.title === '').to.equal(one.trim() === '' && one === '');
        readEpisode([...path, `${one}.mkv`]);
        groupFilms({ folder: one, videos: path });
        readSidecar(`${one}.srt`, path[0] ?? '');
        readSidecar(`${one}${path[0] ?? ''}.srt`, one);
        pictureKind(`${one}.jpg`, path[0] ?? '');
        for (const check of [partOf, extraFile, extrasFolder, isPassedOver, kindOf, titleKey, sortTitle]) check(one);
      }),
      { numRuns: 2000 },
    );
  });

  it('keeps every video of a folder exactly once', () => {
    const video = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).map((stem) => `${stem}.mkv`);
    fc.assert(
      fc.property(fc.string(), fc.uniqueArray(video, { maxLength: 6 }), (folder, videos) => {
        const { films, extras } = groupFilms({ folder, videos });
        const placed = [...films.flatMap((f) => f.files.map((file) => file.name)), ...extras.map((e) => e.name)];
        if (films.length > 0) expect(placed.sort()).to.deep.equal([...videos].sort());
      }),
      { numRuns: 1000 },
    );
  });
});

describe('embedded tags', () => {
  const tags = {
    title: 'www.example.org - Sintel.2010.1080p',
    date: '2010-09-27',
    genre: 'Fantasy; Short',
    synopsis: 'A dragon.',
    director: 'Colin Levy',
    imdb: 'tt1727587',
    tmdb: 'movie/45745',
  };

  it('tell of the film what its name does not, and never its title', () => {
    const told = withEmbedded(undefined, tags, undefined);
    expect(told).to.deep.include({
      plot: 'A dragon.',
      year: 2010,
      releasedOn: '2010-09-27',
      directors: ['Colin Levy'],
    });
    expect(told).to.deep.include({ genres: ['Fantasy', 'Short'], ids: { imdb: 'tt1727587', tmdb: '45745' } });
    expect(told).to.not.have.property('title');
    expect(withEmbedded(undefined, { title: 'x', comment: 'y', date: '2x' }, undefined)).to.equal(undefined);
  });

  it('yield to the NFO file and to the year of the name', () => {
    const nfo = readNfo('<movie><title>Sintel</title><plot>Two dragons.</plot><genre>Drama</genre></movie>');
    const told = withEmbedded(nfo, tags, 2011);
    expect(told).to.deep.include({
      title: 'Sintel',
      plot: 'Two dragons.',
      genres: ['Drama'],
      directors: ['Colin Levy'],
    });
    expect(told).to.not.have.any.keys('year', 'releasedOn');
    expect(withEmbedded(nfo, tags, 2010)).to.include({ releasedOn: '2010-09-27' });
  });
});

describe('readNfo', () => {
  const film = `<?xml version="1.0"?><movie><title>Sintel</title><originaltitle>S</originaltitle><plot>A &lt;dragon&gt;.</plot><year>2010</year>
    <runtime>15</runtime><rating>7.5</rating><uniqueid type="imdb">tt1727587</uniqueid><tmdbid>45745</tmdbid><genre>Fantasy / Short</genre><genre>Animation</genre>
    <premiered>2010-09-30</premiered><studio>Blender</studio><actor><name>Halina Reijn</name><role>Sintel</role></actor><director>Colin Levy</director></movie>`;

  it('reads a film', () => {
    const nfo = readNfo(film);
    expect(nfo).to.include({
      root: 'movie',
      title: 'Sintel',
      plot: 'A <dragon>.',
      year: 2010,
      runtimeMin: 15,
      rating: 7.5,
      releasedOn: '2010-09-30',
    });
    expect(nfo?.ids).to.deep.equal({ imdb: 'tt1727587', tmdb: '45745' });
    expect(nfo?.genres).to.deep.equal(['Fantasy', 'Short', 'Animation']);
    expect(nfo?.actors).to.deep.equal([{ name: 'Halina Reijn', character: 'Sintel' }]);
  });

  it('reads an episode with its place', () => {
    const nfo = readNfo(
      '<episodedetails><title>T</title><season>0</season><episode>3</episode><airsbefore_season>2</airsbefore_season><airsbefore_episode>1</airsbefore_episode></episodedetails>',
    );
    expect(nfo).to.deep.include({ season: 0, episode: 3, airsBefore: { season: 2, episode: 1 } });
    const after = readNfo('<episodedetails><title>T</title><airsafter_season>2</airsafter_season></episodedetails>');
    expect(after?.airsBefore).to.deep.equal({ season: 3 });
  });

  it('refuses document types and entities', () => {
    expect(
      readNfo(`<!DOCTYPE movie [<!ENTITY x SYSTEM "file:///etc/passwd">]><movie><title>&x;</title></movie>`),
    ).to.equal(undefined);
    expect(readNfo('<movie><title>a&undefined;b</title></movie>')?.title ?? '').to.not.contain('passwd');
  });

  it('takes what stands before an address that Kodi writes behind', () => {
    expect(readNfo(`${film}\nhttps://www.themoviedb.org/movie/45745`)?.title).to.equal('Sintel');
  });

  it('is nothing for other texts', () => {
    expect(readNfo('https://www.imdb.com/title/tt1727587/')).to.equal(undefined);
    expect(readNfo('')).to.equal(undefined);
    expect(readNfo('<html><title>x</title></html>')).to.equal(undefined);
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(film.length), (junk, at) => {
        readNfo(junk);
        readNfo(film.slice(0, at) + junk + film.slice(at));
        readNfo(film.slice(0, at));
      }),
      { numRuns: 1000 },
    );
  });
});
