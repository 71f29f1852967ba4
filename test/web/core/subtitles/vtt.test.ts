import { expect } from 'chai';
import { CueTrack } from '../../../../web/src/core/subtitles/track.ts';
import { type Cue, drawnCue, type RawCue, VttReader } from '../../../../web/src/core/subtitles/vtt.ts';

function readRaw(text: string, piece = text.length): RawCue[] {
  const reader = new VttReader();
  for (let at = 0; at < text.length; at += Math.max(1, piece)) reader.push(text.slice(at, at + Math.max(1, piece)));
  return reader.end();
}
const read = (text: string, piece?: number): Cue[] => readRaw(text, piece).map(drawnCue);
const plain = (cue: Cue | undefined): string =>
  (cue?.lines ?? []).map((line) => line.map(({ text }) => text).join('')).join('\n');

const FILE = `WEBVTT - a title

NOTE a remark with 00:01.000 in it

STYLE
::cue { color: red }

intro
00:01.000 --> 00:02.500 line:10% position:20% align:start
<v Ana>Good <i>morning,
dear</i> &amp; all

01:00:00.000 --> 01:00:01.000
<b>Late</b>
`;

describe('WebVTT', () => {
  it('gives cues with their times, styles and place', () => {
    const cues = read(FILE);
    expect(cues.map(({ startMs, endMs }) => [startMs, endMs])).to.deep.equal([
      [1000, 2500],
      [3_600_000, 3_601_000],
    ]);
    expect(plain(cues[0])).to.equal('Good morning,\ndear & all');
    expect(cues[0]?.lines[1]?.[0], 'a style carries over lines').to.include({ text: 'dear', italic: true });
    expect(cues[0]?.lines[1]?.[1]).to.include({ italic: false });
    expect(cues[0]?.place).to.deep.equal({ align: 'start', line: 10, position: 20 });
    expect(cues[1]?.lines[0]?.[0]).to.include({ text: 'Late', bold: true });
  });

  it('gives the same whatever the pieces and the ends of lines', () => {
    const expected = read(FILE);
    for (const piece of [1, 2, 7, 64]) expect(read(FILE, piece), `pieces of ${piece}`).to.deep.equal(expected);
    expect(read(FILE.replaceAll('\n', '\r\n'))).to.deep.equal(expected);
    expect(read(FILE.replaceAll('\n', '\r\n'), 1)).to.deep.equal(expected);
  });

  it('shows markup as text, and drops tags', () => {
    const [cue] = read(
      'WEBVTT\n\n00:01.000 --> 00:02.000\n<img src=x onerror=alert(1)>1 < 2 &lt;b&gt; <script>alert(1)</script>\n',
    );
    expect(plain(cue)).to.equal('1 < 2 <b> alert(1)');
  });

  it('keeps all text of a cue of many pieces, in few of them', () => {
    const [cue] = read(`WEBVTT\n\n00:01.000 --> 00:02.000\n${'a<i>b</i>'.repeat(400)}\nthe end\n`);
    expect(plain(cue)).to.equal(`${'ab'.repeat(400)}\nthe end`);
    expect(cue?.lines.flat().length).to.be.at.most(65);
  });

  it('leaves out cues whose times are wrong', () => {
    const wrong = [
      '00:05.000 --> 00:05.000',
      '00:05.000 --> 00:04.000',
      'x --> 00:05.000',
      '00:05.000 -->',
      '99:99 --> 1',
    ];
    for (const timing of wrong) expect(read(`WEBVTT\n\n${timing}\ntext\n`), timing).to.deep.equal([]);
  });

  it('reads 50 MB in linear time and bounded memory: long lines, many cues, open tags', () => {
    const size = 50 * 2 ** 20;
    const head = 'WEBVTT\n\n00:00.000 --> 01:00.000\n';
    const hostile: [name: string, text: string][] = [
      ['one line', head + 'a'.repeat(size)],
      ['open tags', head + '<'.repeat(size)],
      ['one cue of many lines', head + 'a\n'.repeat(size / 2)],
      ['many cues', `WEBVTT\n\n${'00:00.000 --> 01:00.000\na\n\n'.repeat(size / 27)}`],
      ['ampersands', `${head}${`${'&'.repeat(8000)}\n`.repeat(size / 8001)}`],
      ['long cues', `WEBVTT\n\n${`00:00.000 --> 01:00.000\n${'a<i>b</i>'.repeat(440)}\n\n`.repeat(size / 3986)}`],
    ];
    for (const [name, text] of hostile) {
      const began = process.cpuUsage();
      const cues = readRaw(text, 32 * 1024);
      const shown = cues.slice(0, 10).map(drawnCue);
      expect(process.cpuUsage(began).user / 1000, name).to.be.lessThan(15_000);
      expect(cues.length, name).to.be.at.most(100_000);
      expect(Math.max(0, ...shown.map((cue) => plain(cue).length)), name).to.be.at.most(4020);
      const kept = cues.reduce((sum, { texts }) => sum + texts.join('').length, 0);
      expect(kept, name).to.be.at.most(2 ** 25 + 4000);
    }
  }).timeout(120_000);
});

describe('cues by time', () => {
  const cue = (startMs: number, endMs: number): Cue => ({ startMs, endMs, lines: [], place: { align: 'center' } });

  it('finds every cue of a moment, also long ones that began before others', () => {
    const cues = [cue(5000, 6000), cue(0, 3_600_000), cue(1000, 2000), cue(5500, 7000)];
    const track = new CueTrack(cues);
    const at = (ms: number): number[] => track.at(ms).map(({ startMs }) => startMs);
    expect(at(0)).to.deep.equal([0]);
    expect(at(1500)).to.deep.equal([0, 1000]);
    expect(at(2000), 'an end is not part of a cue').to.deep.equal([0]);
    expect(at(5600)).to.deep.equal([0, 5000, 5500]);
    expect(at(3_600_000)).to.deep.equal([]);
    expect(new CueTrack([]).at(0)).to.deep.equal([]);
  });

  it('agrees with a look at every cue, for random ones', () => {
    const random = (() => {
      let seed = 7;
      return (most: number) => {
        seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
        return seed % most;
      };
    })();
    const cues = Array.from({ length: 300 }, () => {
      const start = random(100_000);
      return cue(start, start + 1 + random(900));
    });
    const track = new CueTrack(cues);
    for (let ms = 0; ms < 101_000; ms += 37) {
      const begin = cues.filter(({ startMs }) => ms < startMs && startMs < ms + 500).length;
      expect(track.between(ms, ms + 500, 1000).length, String(ms)).to.equal(begin);
      const expected = cues.filter(({ startMs, endMs }) => startMs <= ms && ms < endMs).length;
      expect(track.at(ms).length, String(ms)).to.equal(Math.min(6, expected));
    }
  });
});
