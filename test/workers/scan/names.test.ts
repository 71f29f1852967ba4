import { expect } from 'chai';
import fc from 'fast-check';
import { sortTitle } from '#platform/sort-title.ts';
import { extraFile, extrasFolder } from '#workers/scan/names/extras.ts';
import { isPassedOver, kindOf } from '#workers/scan/names/kinds.ts';
import { groupFilms } from '#workers/scan/names/movies.ts';
import { partOf } from '#workers/scan/names/parts.ts';
import { readEpisode } from '#workers/scan/names/shows.ts';
import { pictureKind, readSidecar } from '#workers/scan/names/sidecars.ts';
import { readName, titleKey } from '#workers/scan/names/title.ts';
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
      const parsed = read?.date ?? `${read?.season}x${read?.number}${end}`;
      expect([read?.show.title, parsed, read?.title], path).to.deep.equal([show, at, title]);
    }
  });

  it('leaves names without a number alone', () => {
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
      const parsed = `${read?.default ? 'd' : ''}${read?.forced ? 'f' : ''}${read?.hearingImpaired ? 'h' : ''}`;
      expect([read?.language, parsed, read?.title], name).to.deep.equal([language, flags, title]);
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

  it('passes over hidden and unfinished files', () => {
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

  it('never throws and always ends, for any name', () => {
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

  it('costs little for any name', () => {
    const before = process.cpuUsage();
    for (const part of [
      '[',
      ']',
      '(',
      '[]',
      ' ',
      '\t',
      '-',
      '.',
      '_',
      '1',
      '1-',
      'e1',
      's1e1',
      'x',
      '1x1',
      '.1',
      '- 1',
      '&1',
      '第',
      'I',
      'BT',
      'cut ',
      '+',
    ]) {
      for (const length of [255, 5000]) {
        const name = part.repeat(Math.ceil(length / part.length));
        for (const one of [name, `Film ${name}`, `${name} 2001`, `[a] ${name}.mkv`]) {
          readName(one);
          readEpisode([one, one, `${one}.mkv`]);
          groupFilms({ folder: one, videos: [`${one}.mkv`, `${one}-trailer.mkv`] });
          readSidecar(`${one}.srt`, '');
        }
      }
    }
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).to.be.below(4000);
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
