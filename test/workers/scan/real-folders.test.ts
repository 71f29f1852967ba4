import { expect } from 'chai';
import { readName } from '#workers/scan/names/title.ts';
import { type Item, itemsOf } from './corpus/run.ts';

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** `Show 1x2-3 Title` of an episode, `Film (2000)` of a film, `trailer: Title of Film` of an extra. */
function lineOf({ draft, show, owner, files }: Item): string {
  const year = draft.year === undefined ? '' : ` (${draft.year})`;
  if (draft.extra) return `${draft.extra.kind}: ${draft.title} of ${owner?.title}`;
  if (draft.type !== 'episode') return `${draft.title}${year}`;
  const end = draft.indexEnd === undefined ? '' : `-${draft.indexEnd}`;
  const place = draft.releasedOn ?? `${draft.parentIndex}x${draft.index ?? '?'}${end}`;
  const title = /^Episode \d+$/.test(draft.title) || draft.title === draft.releasedOn ? '' : ` ${draft.title}`;
  const parts = files.filter(({ part }) => part !== undefined).length;
  return `${show?.title} ${place}${title}${parts > 0 ? ` in ${parts} parts` : ''}`;
}

function shown(library: string, ...paths: string[]): string[] {
  return itemsOf({ library, paths }).map(lineOf).sort();
}

function shows(cases: Readonly<Record<string, string>>): void {
  for (const [path, line] of Object.entries(cases)) expect(shown('shows', path), path).to.deep.equal([line]);
}

function films(cases: Readonly<Record<string, string>>): void {
  for (const [path, line] of Object.entries(cases)) expect(shown('movies', path), path).to.deep.equal([line]);
}

function labelsOf(...paths: string[]): string[] {
  const files = itemsOf({ library: 'movies', paths }).flatMap((item) => item.files);
  return files.map(({ path, edition }) => `${nameOf(path)}: ${edition}`);
}

describe('episodes in real folders', () => {
  it('take a number that begins the title for the title', () => {
    shows({
      'Show/Season 7/S07E22 - 2000 Light Years.mkv': 'Show 7x22 2000 Light Years',
      'Show/Season 1/Show S01E02 - 12 Angry Men.mkv': 'Show 1x2 12 Angry Men',
      'Show/Season 4/4x01 – 20 Hours in America.mkv': 'Show 4x1 20 Hours in America',
      'Show/Season 5/S05E23 11-59 [HDTV-1080p].mkv': 'Show 5x23 11-59',
      'Show/Season 2/7 - 12 Angry Men.avi': 'Show 2x7 12 Angry Men',
    });
  });

  it('of anime have the season in their title', () => {
    shows({
      '[Group] Title S2 - 03 (1080p) [63501322].mkv': 'Title 2x3',
      'Title/[Group] Title S02 - 01 [WEB-DL].mkv': 'Title 2x1',
      '[Group] Title 2nd Season - 04 [720p].mkv': 'Title 2x4',
      'Title/[Group] Title - 03 [720p].mkv': 'Title 1x3',
    });
    expect(shown('shows', 'Title/Title S1 - 03.mkv', 'Title/Title S2 - 03.mkv')).to.deep.equal([
      'Title 1x3',
      'Title 2x3',
    ]);
  });

  it('are not distinguished by a checksum', () => {
    shows({
      '[Group] 86 - 01 [1080p][D40A9E55].mkv': '86 1x1',
      'Title/[Group] Title - 07 [1E020304].mkv': 'Title 1x7',
      '[Group]_Title_05_(a1fc58a7).mkv': 'Title 1x5',
    });
    expect(shown('shows', 'Title/[Group] Title [D40A9E55].mkv')).to.deep.equal([]);
  });

  it('are found by any usual number', () => {
    shows({
      'Show/Show 12.avi': 'Show 1x12',
      'Show/Show - 02 Name.avi': 'Show 1x2 Name',
      'Show - 2x4 - Name.mkv': 'Show 2x4 Name',
      'Show/1x1.mkv': 'Show 1x1',
      'Show/Season 1/S01x02 blah.avi': 'Show 1x2 blah',
      'Show/Season 1/S01xE02.avi': 'Show 1x2',
      '[Group]_Some_Show_07_(1280x720_x264-AAC)_[6B7FD717].mkv': 'Some Show 1x7',
      '[Group]_Some_Show_-_07v2_[H264][720p].mkv': 'Some Show 1x7',
      'Show/show.203.hdtv-lol.mkv': 'Show 2x3',
      'Show/Season 1/101 - Pilot.mkv': 'Show 1x1 Pilot',
      'Show/Show Part III.mkv': 'Show 1x3',
      'Show - 2016x231.mkv': 'Show 2016x231',
      'Show/第05話.mkv': 'Show 1x5',
      'Some+Show+Episode+3.mp4': 'Some Show 1x3',
      'Show/Episode III.mkv': 'Show 1x3',
      'Show/Show - EX01 [BD].mkv': 'Show 0x1',
      'Show/Сезон 3, Эпизод 21.mkv': 'Show 3x21',
      'Show/5-й сезон 09-я серия.avi': 'Show 5x9',
      'Show/Серия 11.mkv': 'Show 1x11',
      'Show/Show - T02E22.mp4': 'Show 2x22',
      'Show/[5.01] Weight Loss.avi': 'Show 5x1 Weight Loss',
      'Show/[1x05] Name.avi': 'Show 1x5 Name',
      'Show/[05] Name.avi': 'Show 1x5 Name',
      'Show/Show - 6.01 - Name.mkv': 'Show 6x1 Name',
      'Show/Show.S0615.mkv': 'Show 6x15',
      'Show/Show 15-11-2011.avi': 'Show 2011-11-15',
    });
  });

  it('are several where the name lists several', () => {
    shows({
      'Show/Show.S02E01-S02E02.mkv': 'Show 2x1-2',
      'Show/Show 02x03x04.mkv': 'Show 2x3-4',
      'Show/Show S01E01E02E03.mkv': 'Show 1x1-3',
      'Show/Show 2x01-2x02.mkv': 'Show 2x1-2',
      'Show/Show S01E23-E24-E26 - Name.mkv': 'Show 1x23-26 Name',
      'Show/02x03 - x04 - x15 - Name.mkv': 'Show 2x3-15 Name',
      'Show/Show ep01-02.mkv': 'Show 1x1-2',
      'Show/[Group] Show - 01-12 [720p].mkv': 'Show 1x1-12',
      'Show/Show S01E03-E01.mkv': 'Show 1x3',
      'Show/Show S01E05-1080p.mkv': 'Show 1x5',
      'Show/Show S05E53 - Ep.129.mkv': 'Show 5x53 Ep 129',
      'Show/[Group] Show - 01 - 12 [1080p].mkv': 'Show 1x1-12',
    });
  });

  it('lie in discs and folders of their own', () => {
    shows({
      'Show/Season 1/Disc 1/Episode 05.mkv': 'Show 1x5',
      'Show/Disc 2/Show S01E09.mkv': 'Show 1x9',
      'Show/Season 1/Episode 05/video S01E05.mkv': 'Show 1x5',
      'Show/Season 1/Show - S01E02/Show - S01E02 - 1080p.mkv': 'Show 1x2',
      'Show/Show.S01E03.Name.720p.WEB-DL.x264-GRP/abc123.mkv': 'Show 1x3 Name',
      'Show/2/Show 07.mkv': 'Show 2x7',
    });
  });

  it('lie in seasons of other languages', () => {
    const words = [
      'Kausi',
      'Säsong',
      'Сезон',
      'СЕЗОН',
      'シーズン',
      '시즌',
      'Staffel',
      'Saison',
      'Temporada',
      'Stagione',
      'Seizoen',
      'Sezon',
      'Sezóna',
      'sæson',
      'Sezonul',
      'SEASON',
    ];
    for (const word of words) shows({ [`Show/${word} 2/Show 07.mkv`]: 'Show 2x7' });
    shows({
      'Show/3.Staffel/Show 07.mkv': 'Show 3x7',
      'Show/2ª Temporada/Show 07.mkv': 'Show 2x7',
      'Show/第2季/Show 07.mkv': 'Show 2x7',
      'Show/Season 7 (2016)/Show 07.mkv': 'Show 7x7',
      'Show/Show Season 3/Show 07.mkv': 'Show 3x7',
    });
  });

  it('of a show that is called like a folder of extras are episodes', () => {
    for (const name of ['Extras', 'Shorts', 'Clips', 'Other', 'Trailers'])
      shows({ [`${name}/Season 1/${name} S01E02.mkv`]: `${name} 1x2`, [`${name}/S01E03.mkv`]: `${name} 1x3` });
    shows({ 'Specials/Season 2/S02E01.mkv': 'Specials 2x1' });
    expect(shown('shows', 'Extras/S01E01.mkv', 'Extras/Extras/Gag Reel.mkv')).to.deep.equal([
      'Extras 1x1',
      'other: Gag Reel of Extras',
    ]);
  });

  it('are parts of one, next to versions', () => {
    const show = (name: string): string => `Show/Season 1/Show - S01E01 - ${name}.mkv`;
    expect(shown('shows', show('part1'), show('part2'))).to.deep.equal(['Show 1x1 in 2 parts']);
    expect(shown('shows', show('Pilot - cd1'), show('Pilot - cd2'))).to.deep.equal(['Show 1x1 Pilot in 2 parts']);
    expect(shown('shows', show('1080p cd1'), show('1080p cd2'), show('720p'))).to.deep.equal(['Show 1x1 in 2 parts']);
    expect(shown('shows', show('1080p'), show('720p'))).to.deep.equal(['Show 1x1']);
  });

  it('without a number are specials in the folder of specials', () => {
    shows({ 'Show/Specials/Making Of.mkv': 'Show 0x? Making Of' });
    expect(shown('shows', 'Show/Specials/Making Of.mkv', 'Show/Specials/Bloopers.mkv')).to.have.length(2);
  });

  it('of a title with a number keep it', () => {
    shows({
      'The 100/The 100 05.mkv': 'The 100 1x5',
      'Log Horizon 2/[Group] Log Horizon 2 - 03 [720p].mkv': 'Log Horizon 2 1x3',
      '24/Season 1/24 S01E03.mkv': '24 1x3',
      '1923/Season 1/1923 - 04.mkv': '1923 1x4',
    });
  });
});

describe('films in real folders', () => {
  it('are no films when they are called a trailer or sample', () => {
    expect(shown('movies', 'Up (2009)/Up (2009).mkv', 'Up (2009)/Up - trailer.mkv')).to.deep.equal([
      'Up (2009)',
      'trailer: Trailer of Up',
    ]);
    expect(shown('movies', '300.mkv', '300 - sample.mkv')).to.deep.equal(['300', 'sample: Sample of 300']);
    expect(shown('movies', '300/300.mkv', '300/300.trailer.mkv')).to.deep.equal(['300', 'trailer: Trailer of 300']);
  });

  it('are films when their title ends like an extra', () => {
    films({
      'The Big Short.mkv': 'The Big Short',
      'The.Big.Short.2015.mkv': 'The Big Short (2015)',
      'The.Interview.mkv': 'The Interview',
      'I Live In A Trailer.mkv': 'I Live In A Trailer',
      'The DNA Sample.mkv': 'The DNA Sample',
      'Short.mkv': 'Short',
      'Extras/Heat (1995).mkv': 'Heat (1995)',
    });
  });

  it('have their own extras, in any order', () => {
    const all = [
      'A (1990).mkv',
      'Zulu (1964).mkv',
      'Zulu (1964)-trailer.mkv',
      'A (1990)-interview.mkv',
      'Dune (1984).mkv',
      'Dune (2021).mkv',
      'Dune (2021)-scene.mkv',
    ];
    expect(shown('movies', ...all).filter((line) => line.includes(': '))).to.deep.equal([
      'interview: Interview of A',
      'scene: Scene of Dune',
      'trailer: Trailer of Zulu',
    ]);
    const scene = itemsOf({ library: 'movies', paths: all }).find(({ draft }) => draft.extra?.kind === 'scene');
    expect(scene?.owner?.year).to.equal(2021);
  });

  it('do not swallow an extra of nothing', () => {
    expect(shown('movies', 'A (1990).mkv', 'B (1991).mkv', 'WillyWonka-trailer.mkv')).to.deep.equal([
      'A (1990)',
      'B (1991)',
      'WillyWonka-trailer',
    ]);
    expect(shown('movies', 'trailer.mkv')).to.deep.equal(['trailer']);
  });

  it('name their extras, not the files', () => {
    const film = 'Avatar (2009)/Avatar (2009).mkv';
    const extra = (path: string): string =>
      shown('movies', film, `Avatar (2009)/${path}`)
        .filter((line) => line !== 'Avatar (2009)')
        .join();
    expect(extra('Behind The Scenes/Performance.Capture.1080p.BluRay.x264-GRP.mkv')).to.equal(
      'behind-the-scenes: Performance Capture of Avatar',
    );
    expect(extra('Drama Deleted Scene-deleted.mkv')).to.equal('deleted-scene: Drama Deleted Scene of Avatar');
    expect(extra('Avatar (2009)-trailer2.mkv')).to.equal('trailer: Trailer 2 of Avatar');
    expect(extra('trailer.mkv')).to.equal('trailer: Trailer of Avatar');
    expect(extra('Extras/Making_Of.mkv')).to.equal('other: Making Of of Avatar');
  });

  it('have versions with a label, without a year in the folder', () => {
    const film = (rest: string): string => `Blade Runner/Blade Runner${rest}.mkv`;
    expect(labelsOf(film(' - Final Cut'), film(' - 1080p'), film(''), film(' [Workprint]'))).to.deep.equal([
      'Blade Runner - 1080p.mkv: 1080p',
      'Blade Runner.mkv: Blade Runner',
      'Blade Runner - Final Cut.mkv: Final Cut',
      'Blade Runner [Workprint].mkv: Workprint',
    ]);
    expect(shown('movies', film(' - Final Cut'), film(' - 1080p'), film(''), film(' [Workprint]'))).to.have.length(1);
    expect(shown('movies', 'Iron Man/Iron Man (2008).mkv', 'Iron Man/Iron Man (2010).mkv')).to.have.length(2);
    expect(shown('movies', 'Movie/Movie 1.mkv', 'Movie/Movie 2.mkv')).to.have.length(2);
  });

  it('have parts in one of their versions', () => {
    const film = (rest: string): string => `Inception (2010)/Inception (2010)${rest}.mkv`;
    const [item, ...more] = itemsOf({ library: 'movies', paths: [film(''), film(' - 4K part1'), film(' - 4K part2')] });
    expect(more).to.deep.equal([]);
    expect(item?.files.map(({ part, parts, edition }) => [part, parts, edition])).to.deep.equal([
      [1, 2, '4K'],
      [2, 2, '4K'],
      [undefined, undefined, 'Inception (2010)'],
    ]);
  });

  it('keep numbers that begin or end their title', () => {
    films({
      '2001 A Space Odyssey.mkv': '2001 A Space Odyssey',
      '2001.A.Space.Odyssey.1968.1080p.mkv': '2001 A Space Odyssey (1968)',
      'Blade.Runner.2049.mkv': 'Blade Runner 2049',
      'Blade.Runner.2049.1080p.BluRay.mkv': 'Blade Runner 2049',
      'Film.2017.2160p.BT.2020.HEVC.mkv': 'Film (2017)',
      'Film.2160p.BT.2020.HEVC.mkv': 'Film',
      '1917.mkv': '1917',
      '2012.2009.720p.mkv': '2012 (2009)',
      '300 2 (2006).mkv': '300 2 (2006)',
      'Dune Part 2.mkv': 'Dune Part 2',
      '480 Super movie.mkv': '480 Super movie',
      'Film.720.2001.mkv': 'Film 720 (2001)',
      '(2000) Film (1080p).mkv': 'Film (2000)',
    });
  });

  it('lose the words of 3D and of editions', () => {
    films({
      'Film.3D.HSBS.mkv': 'Film',
      'Film (2009) 3d hsbs.mkv': 'Film (2009)',
      'Film.3D.H-SBS.1080p.mkv': 'Film',
      'Awesome 3D Movie (2022).3D.FTAB.mp4': 'Awesome 3D Movie (2022)',
      'My.Movie.GERMAN.Extended.Cut.mkv': 'My Movie GERMAN',
      'Film.EXTENDED.2013.1080p.mkv': 'Film (2013)',
      'Movie Title 2012 50th Anniversary Edition.mkv': 'Movie Title (2012)',
      'The Final Cut (2004).mkv': 'The Final Cut (2004)',
      'Uncut Gems (2019).mkv': 'Uncut Gems (2019)',
      "Mr. Holland's Opus (1995).mkv": "Mr. Holland's Opus (1995)",
      'Red.Diamond.2016.1080p.mkv': 'Red Diamond (2016)',
      'Photo.Finish.DVDRip.XviD.mkv': 'Photo Finish',
      'Party.Line.German.1080p.mkv': 'Party Line',
      'The.Good.German.2006.720p.mkv': 'The Good German (2006)',
    });
    expect(labelsOf("Film (1979) {edition-Director's Cut}.mkv")).to.deep.equal([
      "Film (1979) {edition-Director's Cut}.mkv: Director's Cut",
    ]);
    expect(labelsOf('Film.1997.Open.Matte.1080p.mkv')).to.deep.equal(['Film.1997.Open.Matte.1080p.mkv: Open Matte']);
  });

  it('have any title', () => {
    films({
      '千と千尋の神隠し (2001).mkv': '千と千尋の神隠し (2001)',
      '霸王别姬.1993.1080p.BluRay.mkv': '霸王别姬 (1993)',
      'The\nThing (1982).mkv': 'The Thing (1982)',
      'Two\r\nLines.mkv': 'Two Lines',
      'Film, The (2001).mkv': 'The Film (2001)',
    });
    expect(shown('movies', '   .mkv')[0]).to.match(/\S/);
    expect(shown('movies', '\n/\t.mkv')[0]).to.match(/\S/);
    expect(readName(' \n ').title).to.not.equal('');
  });
});

describe('subtitles in real folders', () => {
  const languageOf = (word: string): string | undefined => {
    const [item] = itemsOf({ library: 'movies', paths: ['Film.mkv', `Film.${word}.srt`] });
    return item?.files[0]?.tracks[0]?.language;
  };

  it('give their language by its name, in English and in itself', () => {
    const names = {
      Greek: 'el',
      Deutsch: 'de',
      Français: 'fr',
      русский: 'ru',
      Ukrainian: 'uk',
      日本語: 'ja',
      Hebrew: 'he',
      Brazilian: 'pt-BR',
      en_us: 'en-US',
      Romanian: 'ro',
    };
    for (const [word, tag] of Object.entries(names)) expect(languageOf(word), word).to.equal(tag);
    for (const word of ['Commentary', 'Signs', 'x264', 'GRP']) expect(languageOf(word), word).to.equal(undefined);
  });

  it('belong to a film whose name differs in case or in the writing of accents', () => {
    const paths = ['Amélie (2001).mkv', 'amélie (2001).en.srt', 'AMÉLIE (2001).de.srt'.normalize('NFD')];
    expect(itemsOf({ library: 'movies', paths })[0]?.files[0]?.tracks.map(({ language }) => language)).to.have.members([
      'en',
      'de',
    ]);
  });

  it('of a film and of one that begins like it are distinguished', () => {
    const paths = ['Film.mkv', 'Film.2.mkv', 'Film.2.en.srt', 'Film.de.srt'];
    const tracks = itemsOf({ library: 'movies', paths }).flatMap(({ files }) =>
      files.map((file) => [nameOf(file.path), file.tracks.map((track) => nameOf(track.path))]),
    );
    expect(Object.fromEntries(tracks)).to.deep.equal({ 'Film.mkv': ['Film.de.srt'], 'Film.2.mkv': ['Film.2.en.srt'] });
  });
});
