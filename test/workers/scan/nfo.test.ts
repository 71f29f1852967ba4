import { expect } from 'chai';
import fc from 'fast-check';
import { languageTag } from '#workers/probe/languages.ts';
import { contentTags } from '#workers/probe/probed.ts';
import { withEmbedded } from '#workers/scan/names/embedded.ts';
import { nfoText, readNfo } from '#workers/scan/names/nfo.ts';

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

  it('give the film the values that its name lacks, and never its title', () => {
    const merged = withEmbedded(undefined, tags, undefined);
    expect(merged).to.deep.include({
      plot: 'A dragon.',
      year: 2010,
      releasedOn: '2010-09-27',
      directors: ['Colin Levy'],
    });
    expect(merged).to.deep.include({ genres: ['Fantasy', 'Short'], ids: { imdb: 'tt1727587', tmdb: '45745' } });
    expect(merged).to.not.have.property('title');
    expect(withEmbedded(undefined, { title: 'x', comment: 'y', date: '2x' }, undefined)).to.equal(undefined);
  });

  it('yield to the NFO file and to the year of the name', () => {
    const nfo = readNfo('<movie><title>Sintel</title><plot>Two dragons.</plot><genre>Drama</genre></movie>');
    const merged = withEmbedded(nfo, tags, 2011);
    expect(merged).to.deep.include({
      title: 'Sintel',
      plot: 'Two dragons.',
      genres: ['Drama'],
      directors: ['Colin Levy'],
    });
    expect(merged).to.not.have.any.keys('year', 'releasedOn');
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

  it('takes the text before an address that Kodi appends', () => {
    expect(readNfo(`${film}\nhttps://www.themoviedb.org/movie/45745`)?.title).to.equal('Sintel');
  });

  it('is nothing for other texts', () => {
    expect(readNfo('https://www.example.org/title/tt1727587/')).to.equal(undefined);
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

  it('reads the address of a page, alone or behind the XML', () => {
    const of = (text: string): object | undefined => readNfo(text)?.ids;
    expect(of('https://www.imdb.com/title/tt1727587/')).to.deep.equal({ imdb: 'tt1727587' });
    expect(of('http://www.imdb.de/title/tt1727587\n')).to.deep.equal({ imdb: 'tt1727587' });
    expect(of('https://www.themoviedb.org/movie/45745-sintel?language=de')).to.deep.equal({ tmdb: '45745' });
    expect(of('https://www.themoviedb.org/tv/1399')).to.deep.equal({ tmdb: '1399' });
    expect(of('http://thetvdb.com/?tab=series&id=81189')).to.deep.equal({ tvdb: '81189' });
    expect(of('http://www.thetvdb.com/?id=81189&lid=7')).to.deep.equal({ tvdb: '81189' });
    expect(of('https://thetvdb.com/dereferrer/series/81189')).to.deep.equal({ tvdb: '81189' });
    expect(of('░▒▓ <GRP> & friends ▓▒░\nimdb.com/title/tt1727587')).to.deep.equal({ imdb: 'tt1727587' });
    const both = readNfo(
      '<movie><title>Sintel</title><plot>imdb.com/title/tt0000001</plot></movie>\nimdb.com/title/tt1727587',
    );
    expect(both).to.deep.include({ root: 'movie', title: 'Sintel', ids: { imdb: 'tt1727587' } });
  });

  it('reads the rating that the file marks, out of ten', () => {
    const of = (inner: string): number | undefined => readNfo(`<movie><title>T</title>${inner}</movie>`)?.rating;
    const imdb = '<rating name="imdb" max="10"><value>7.5</value><votes>9000</votes></rating>';
    const meta = '<rating name="metacritic" max="100" default="true"><value>61</value></rating>';
    expect(of(`<ratings>${imdb}</ratings>`)).to.equal(7.5);
    expect(of(`<ratings>${imdb}${meta}</ratings>`)).to.equal(6.1);
    expect(of('<ratings><rating name="x"><value>8,1</value></rating></ratings>')).to.equal(8);
    expect(of('<ratings><rating name="x"><value>0</value></rating></ratings>')).to.equal(undefined);
    expect(of(`<rating>7</rating><ratings>${imdb}</ratings>`)).to.equal(7);
  });

  it('takes several episodes of one file together', () => {
    const nfo =
      readNfo(`<?xml version="1.0"?><episodedetails><title>One</title><season>1</season><episode>1</episode><plot>A.</plot></episodedetails>
      <episodedetails><title>Two</title><season>1</season><episode>2</episode><plot>B.</plot><director>D</director></episodedetails>`);
    expect(nfo).to.deep.include({ title: 'One / Two', plot: 'A.\n\nB.', episode: 1, directors: ['D'] });
    const films = readNfo('<movie><title>One</title></movie><movie><title>Two</title></movie>');
    expect(films?.title).to.equal('One');
  });

  it('takes a title on one line, and none of white space', () => {
    expect(readNfo('<movie><title> The\n  Thing\t</title></movie>')?.title).to.equal('The Thing');
    expect(readNfo('<movie><title> \n </title><title>Thing</title></movie>')?.title).to.equal('Thing');
    expect(readNfo('<movie><title>千と千尋\nの神隠し</title></movie>')?.title).to.equal('千と千尋 の神隠し');
  });

  it('reads UTF-16 and Windows-1252', () => {
    const text = '<movie><title>Amélie</title></movie>';
    expect(readNfo(nfoText(Buffer.from(`\uFEFF${text}`, 'utf16le')))?.title).to.equal('Amélie');
    expect(readNfo(nfoText(Buffer.from(text, 'latin1')))?.title).to.equal('Amélie');
    expect(readNfo(nfoText(Buffer.from(text)))?.title).to.equal('Amélie');
  });
});

describe('hostile local metadata', () => {
  const filled = (part: string, bytes: number): string => part.repeat(Math.ceil(bytes / part.length));
  const MB = 1024 * 1024;
  const genre = (inner: string): string => `<movie><title>T</title><genre>${inner}</genre></movie>`;
  const texts: Readonly<Record<string, string>> = {
    'a genre of tabs': genre(filled('\t', 1.1 * MB)),
    'a genre of tabs and slashes': genre(filled('\t\t\t/', 1.1 * MB)),
    'a title of spaces': `<movie><title>a${filled(' ', 2 * MB)}b</title></movie>`,
    'open brackets': filled('<', 2 * MB),
    'elements in elements': filled('<a>', 2 * MB),
    'as many roots': filled('<movie></movie>', 2 * MB),
    'as many genres': `<movie>${filled('<genre>a</genre>', 2 * MB)}</movie>`,
    'as many actors': `<movie>${filled('<actor><name>a</name></actor>', 2 * MB)}</movie>`,
    'as many ratings': `<movie><ratings>${filled('<rating><value>1</value></rating>', 2 * MB)}</ratings></movie>`,
    'as many attributes': `<movie ${Array.from({ length: 200_000 }, (_, i) => `a${i}=""`).join(' ')}/>`,
    ampersands: `<movie><title>${filled('&', 2 * MB)}</title></movie>`,
    references: `<movie><title>${filled('&amp;', 2 * MB)}</title></movie>`,
    'addresses without an id': filled('imdb.com/title/tt', 2 * MB),
    'addresses of another': filled('thetvdb.com/?a&', 2 * MB),
    'one long name': `<${filled('a', 2 * MB)}>`,
    'one long text': `<movie><plot>${filled('a b\n', 2 * MB)}</plot></movie>`,
    declarations: filled('<?xml version="1.0"?>', 2 * MB),
    comments: filled('<!-- -->', 2 * MB),
  };

  /** Milliseconds of the processor. */
  function cost(work: () => void): number {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  }

  for (const [what, text] of Object.entries(texts)) {
    it(`costs little as an NFO: ${what}`, () => {
      expect(cost(() => readNfo(text))).to.be.below(1500);
    });
  }

  it('costs little as a tag', () => {
    for (const sign of ['\t', ' ', ',', ' ,', '/\t', '0', 'tt1', '\0', '-', '_']) {
      const value = filled(sign, MB);
      const names = ['synopsis', 'date', 'genre', 'keywords', 'director', 'actor', 'imdb', 'tmdb', 'tvdb'];
      const tags = Object.fromEntries(names.map((name) => [name, value]));
      expect(
        cost(() => withEmbedded(undefined, tags, undefined)),
        sign,
      ).to.be.below(500);
      expect(
        cost(() => withEmbedded(undefined, contentTags(tags), undefined)),
        sign,
      ).to.be.below(500);
      expect(
        cost(() => languageTag(value)),
        sign,
      ).to.be.below(100);
    }
  });

  it('keeps few and short tags of a container', () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`tag${i}`, 'x']));
    expect(Object.keys(contentTags(many))).to.have.length(200);
    expect(contentTags({ genre: 'x'.repeat(50_000), ['k'.repeat(1000)]: 'v' })).to.deep.equal({
      genre: 'x'.repeat(20_000),
    });
  });
});
