import { expect } from 'chai';
import { channelOf, type Programme, programmeOf } from '#workers/live/guide/entries.ts';
import { numbersOf } from '#workers/live/guide/numbers.ts';
import { timeOf } from '#workers/live/guide/times.ts';
import { type Element, XmltvReader } from '#workers/live/guide/xmltv.ts';

function entriesOf(text: string, part = 7): Element[] {
  const entries: Element[] = [];
  const reader = new XmltvReader((entry) => entries.push(entry));
  for (let at = 0; at < text.length; at += part) reader.write(text.slice(at, at + part));
  reader.end();
  return entries;
}

const one = (inner: string, attributes = 'start="20261127200000 +0000" stop="20261127210000 +0000" channel="a"') =>
  programmeOf(entriesOf(`<tv><programme ${attributes}>${inner}</programme></tv>`)[0] as Element, 0) as Programme;

describe('XMLTV', () => {
  it('reads times with offsets, names of zones and without a zone, over both changes of the clock', () => {
    const at = (text: string): string | undefined => {
      const time = timeOf(text);
      return time === undefined ? undefined : new Date(time).toISOString();
    };
    expect(at('20261127203000 +0100')).to.equal('2026-11-27T19:30:00.000Z');
    expect(at('202611272030 -0530')).to.equal('2026-11-28T02:00:00.000Z');
    expect(at('20261127203000')).to.equal('2026-11-27T20:30:00.000Z');
    expect(at('20261127203000 BST')).to.equal('2026-11-27T19:30:00.000Z');
    // the hour that comes twice, and the one that does not come
    expect(at('20261025023000 +0200')).to.equal('2026-10-25T00:30:00.000Z');
    expect(at('20261025023000 +0100')).to.equal('2026-10-25T01:30:00.000Z');
    expect(at('20260329030000 +0200')).to.equal('2026-03-29T01:00:00.000Z');
    for (const text of ['', '20261327000000', '20260230000000 +0000', '20261127250000', '20261127 nonsense', '1'])
      expect(at(text), text).to.equal(undefined);
  });

  it('reads numbers in the systems of guides', () => {
    const of = (system: string, text: string) => numbersOf([{ system, text }]);
    expect(of('xmltv_ns', '1.4.0/1')).to.deep.equal({ season: 2, episode: 5 });
    expect(of('xmltv_ns', ' 0 / 3 . 11/13 . ')).to.deep.equal({ season: 1, episode: 12 });
    expect(of('xmltv_ns', '.9.')).to.deep.equal({ episode: 10 });
    expect(of('onscreen', 'S02E05')).to.deep.equal({ season: 2, episode: 5 });
    expect(of('onscreen', '2x05')).to.deep.equal({ season: 2, episode: 5 });
    expect(of('onscreen', 'Season 3 Episode 12')).to.deep.equal({ season: 3, episode: 12 });
    expect(of('onscreen', 'Ep. 7')).to.deep.equal({ episode: 7 });
    expect(of('dd_progid', 'EP01234567.0012')).to.deep.equal({ progId: 'EP012345670012' });
    expect(of('xmltv_ns', '9'.repeat(5000))).to.deep.equal({});
  });

  it('prefers the systems of numbers in one order, however a guide orders them', () => {
    const sxx = { system: 'SxxExx', text: 'S01E01' };
    const screen = { system: 'onscreen', text: 'S02E02' };
    const ns = { system: 'xmltv_ns', text: '2..' };
    for (const all of [
      [sxx, screen, ns],
      [ns, screen, sxx],
    ]) {
      expect(numbersOf(all)).to.deep.equal({ season: 3, episode: 2 });
      expect(numbersOf(all.filter((one) => one !== ns))).to.deep.equal({ season: 2, episode: 2 });
    }
    expect(numbersOf([screen, { ...screen, text: 'S04E04' }])).to.deep.equal({ season: 2, episode: 2 });
  });

  it('reads all that a programme says', () => {
    const film = one(`<title lang="de">Metropolis</title><desc>Of  a
      city.</desc><date>1927</date><category>Film</category><rating><value>FSK 6</value></rating><rating><value>PG-13</value></rating>
      <star-rating><value>4/5</value></star-rating><video><quality>HDTV</quality></video><premiere/>
      <credits><director>Fritz Lang</director><actor role="Maria">Brigitte Helm</actor></credits>`);
    expect(film).to.deep.include({
      ...{ kind: 'movie', title: 'Metropolis', description: 'Of a city.', year: 1927, starRating: 8, hd: true },
      ...{ isPremiere: true, isRepeat: false, episodeKey: 'film:metropolis:1927', ageYears: 13, ageRating: 'PG-13' },
    });
    expect(film.credits).to.deep.equal([
      { name: 'Fritz Lang', role: 'director' },
      { name: 'Brigitte Helm', role: 'actor' },
    ]);
    const episode =
      one(`<title>The Show</title><sub-title>Pilot</sub-title><episode-num system="xmltv_ns">0.0.</episode-num>
      <previously-shown start="20200102"/>`);
    expect(episode).to.deep.include({
      ...{ kind: 'series', season: 1, episode: 1, isRepeat: true, originalAirDate: '2020-01-02' },
      ...{ seriesKey: 'title:show', episodeKey: 'title:show/1.1' },
    });
    expect(one('<title>X</title><new/><live/><category>Football</category>')).to.deep.include({
      ...{ kind: 'sports', isNew: true, isLive: true },
    });
  });

  it('refuses entries without a channel, a time or a title', () => {
    const times = 'start="20261127200000" stop="20261127210000"';
    for (const [inner, attributes] of [
      ['<title>X</title>', times],
      ['<title> </title>', `${times} channel="a"`],
      ['<title>X</title>', 'start="yesterday" channel="a"'],
      ['<title>X</title>', 'start="20261127200000" stop="20261127200000" channel="a"'],
      ['<title>X</title>', 'start="20261127200000" stop="20261129200000" channel="a"'],
      ['<title>X</title>', `${times} channel="${'a'.repeat(300)}"`],
    ] as const)
      expect(one(inner, attributes), attributes).to.equal(undefined);
  });

  it('reads names, numbers and pictures of channels', () => {
    const [channel] = entriesOf(
      '<tv><channel id="bbc1.uk"><display-name>BBC One &amp; more</display-name><display-name>101</display-name><icon src="https://x/i.png"/></channel></tv>',
    );
    expect(channelOf(channel as Element)).to.deep.equal({
      ...{ id: 'bbc1.uk', names: ['BBC One & more', '101'], number: '101', iconUrl: 'https://x/i.png' },
    });
  });

  it('expands no entity, holds no long text and takes nothing that ends too early', () => {
    const bomb = `<!DOCTYPE tv [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY x SYSTEM "file:///etc/passwd">]>
      <tv><programme start="20261127200000" channel="a"><title>&b;&x; A&B &nbsp;</title></programme></tv>`;
    const [entry] = entriesOf(bomb);
    expect(programmeOf(entry as Element, 0)?.title)
      .to.not.include('aaaa')
      .and.not.include('root');
    expect(() => entriesOf(`<tv><programme start="${'9'.repeat(3 << 20)}"`, 1 << 16)).to.throw('too long');
    expect(() => entriesOf('<tv><programme start="20261127200000" channel="a"><title>X</title>')).to.throw('middle');
    expect(() => entriesOf('<html><body>404</body></html>')).to.throw('html');
    expect(() => entriesOf('no xml at all')).to.throw('not XMLTV');
    const [deep] = entriesOf(
      `<tv><programme start="20261127200000" channel="a"><title>X</title>${'<x>'.repeat(3000)}${'</x>'.repeat(3000)}</programme></tv>`,
      1000,
    );
    expect(programmeOf(deep as Element, 0)?.title).to.equal('X');
  });
});
