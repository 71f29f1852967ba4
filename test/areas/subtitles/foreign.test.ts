import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { decodeForeign } from '#areas/subtitles/foreign/encoding.ts';
import { guessedLanguage } from '#areas/subtitles/foreign/language.ts';
import { type Hints, openForeign } from '#areas/subtitles/foreign/open.ts';
import { readForeignFile } from '#areas/subtitles/foreign/read.ts';
import { zipOf } from '#support/zip-files.ts';

const SRT = '1\n00:00:01,000 --> 00:00:02,500\nA word\n';
const opened = (bytes: Buffer | string, hints: Hints = {}) => openForeign(Buffer.from(bytes as string), hints);
const textOf = (bytes: Buffer | string, hints: Hints = {}): string => {
  const result = opened(bytes, hints);
  return result.ok ? result.text : `refused: ${result.why}`;
};

describe('bytes of a provider', () => {
  it('are SubRip, WebVTT or SubStation as they are, and others as SubRip', () => {
    expect(opened(SRT)).to.deep.include({ ok: true, format: 'srt', cueCount: 1, text: SRT });
    expect(opened('WEBVTT\n\n00:01.000 --> 00:02.000\nA word\n')).to.include({ format: 'vtt', cueCount: 1 });
    const ass = '[Script Info]\r\n[Events]\r\nDialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,A {\\k5}word\r\n';
    expect(opened(ass)).to.include({ format: 'ass', cueCount: 1 });
    expect(textOf('{24}{48}One|{y:i}Two\n{50}{}Three\n', { frameRate: 24 })).to.equal(
      '1\n00:00:01,000 --> 00:00:02,000\nOne\n<i>Two</i>\n\n2\n00:00:02,083 --> 00:00:06,083\nThree\n',
    );
    expect(textOf('{1}{1}25.000\n{25}{50}One\n', { frameRate: 24 })).to.equal(
      '1\n00:00:01,000 --> 00:00:02,000\nOne\n',
    );
    const sami = `<SAMI><HEAD><STYLE><!-- P { } .ENCC { Name: English; lang: en-US; } .FRCC { Name: French; lang: fr-FR; } --></STYLE></HEAD>
      <BODY><SYNC Start=1000><P Class=ENCC>One<br>two &amp; <i>three</i><P Class=FRCC>Un<SYNC Start=2000><P Class=ENCC>&nbsp;<P Class=FRCC>&nbsp;</BODY></SAMI>`;
    expect(textOf(sami, { language: 'en' })).to.equal('1\n00:00:01,000 --> 00:00:02,000\nOne\ntwo & <i>three</i>\n');
    expect(textOf(sami, { language: 'fr' })).to.equal('1\n00:00:01,000 --> 00:00:02,000\nUn\n');
    const ttml = `<?xml version="1.0"?><tt xmlns="http://www.w3.org/ns/ttml" xmlns:ttp="x" ttp:frameRate="25" ttp:tickRate="1000"><body><div>
      <p begin="00:00:01.500" end="2s">One<br/><span tts:fontStyle="italic">two</span></p><p begin="00:00:03:05" dur="1000t">Three</p></div></body></tt>`;
    expect(textOf(ttml)).to.equal(
      '1\n00:00:01,500 --> 00:00:02,000\nOne\n<i>two</i>\n\n2\n00:00:03,200 --> 00:00:04,200\nThree\n',
    );
  });

  it('are decoded by mark, as UTF-8, by zeros, or by language and letters', () => {
    const say = (words: string): string => `1\n00:00:01,000 --> 00:00:02,500\n${words}\n`.repeat(3);
    const utf16 = Buffer.from(say('Grüße'), 'utf16le');
    expect(decodeForeign(Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]), 'de')).to.contain('Grüße');
    expect(decodeForeign(utf16, undefined)).to.contain('Grüße');
    expect(decodeForeign(Buffer.from(utf16).swap16(), undefined)).to.contain('Grüße');
    expect(decodeForeign(Buffer.from(say('Grüße')), 'ru')).to.contain('Grüße');
    const samples: [bytes: number[], language: string | undefined, words: string][] = [
      [[0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2, 0x20, 0xec, 0xe8, 0xf0], 'ru', 'Привет мир'],
      [[0xf0, 0xd2, 0xc9, 0xd7, 0xc5, 0xd4, 0x20, 0xcd, 0xc9, 0xd2], 'ru', 'Привет мир'],
      [[0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2, 0x20, 0xec, 0xe8, 0xf0], undefined, 'Привет мир'],
      [[0xbf, 0xf3, 0xb3, 0x77], 'pl', 'żółw'],
      [[0x47, 0x72, 0xfc, 0xdf, 0x65], 'de', 'Grüße'],
      [[0x82, 0xb1, 0x82, 0xf1, 0x82, 0xc9, 0x82, 0xbf, 0x82, 0xcd], 'ja', 'こんにちは'],
      [[0xc4, 0xe3, 0xba, 0xc3, 0xca, 0xc0, 0xbd, 0xe7], 'zh', '你好世界'],
      [[0xf9, 0xec, 0xe5, 0xed], 'he', 'שלום'],
    ];
    for (const [bytes, language, words] of samples) {
      const file = Buffer.concat([Buffer.from(say('x')), Buffer.from(bytes), Buffer.from('\n')]);
      expect(decodeForeign(file, language), words).to.contain(words);
    }
  });

  it('are taken out of an archive: the named entry, the one of the episode, or the largest; never a bomb', () => {
    const two = zipOf(
      { 'a/S01E01.srt': SRT, 'a/S01E02.srt': SRT.replace('A word', 'Another'), 'readme.nfo': 'x' },
      'deflated',
    );
    expect(textOf(two, { entry: 'a/S01E02.srt' })).to.contain('Another');
    expect(textOf(two, { episode: { season: 1, number: 2 } })).to.contain('Another');
    expect(textOf(gzipSync(SRT))).to.equal(SRT);
    expect(textOf(zipOf({ '../../etc/x.srt': SRT, '/abs.srt': SRT, 'C:\\y.srt': SRT }))).to.equal('refused: archive');
    const bomb = zipOf({ 'x.srt': Buffer.alloc(200 << 20) }, 'deflated');
    expect(bomb.length).to.be.lessThan(1 << 20);
    expect(textOf(bomb)).to.equal('refused: archive');
    const liar = Buffer.from(bomb);
    liar.writeUInt32LE(10, liar.indexOf('PK\u0001\u0002', 0, 'latin1') + 24);
    expect(textOf(liar)).to.equal('refused: archive');
    expect(textOf(gzipSync(Buffer.alloc(100 << 20)))).to.equal('refused: archive');
    expect(textOf(zipOf({ 'x.srt': zipOf({ 'y.srt': SRT }) }))).to.equal('refused: archive');
    expect(textOf(zipOf({}))).to.contain('refused');
  });

  it('are refused as a web page, too large, without cues, and with too many', () => {
    expect(textOf(`\n<!doctype html><html><body>Sign in. 00:00:01,000 --> 00:00:02,000</body>`)).to.equal(
      'refused: web-page',
    );
    expect(textOf(SRT.repeat(150_000))).to.equal('refused: size');
    expect(textOf('00:00:01,000 --> 00:00:02,000\nx\n\n'.repeat(50_001))).to.equal('refused: too-many-cues');
    expect(textOf('{1}{2}x\n'.repeat(60_000))).to.equal('refused: too-many-cues');
    expect(textOf(randomBytes(50_000))).to.contain('refused');
    expect(textOf('')).to.equal('refused: no-cues');
  });

  it('show their language by frequent words', () => {
    const lines = {
      de: 'Ich weiß nicht, was das ist. Du und ich, wir haben es nicht.',
      en: 'I do not know what that is. You and the others have it.',
    };
    for (const [code, words] of Object.entries(lines)) expect(guessedLanguage(`${words}\n`.repeat(10))).to.equal(code);
    expect(guessedLanguage('12 --> 13')).to.equal(undefined);
  });
});

/** Parts of which broken and hostile files are made. */
const PARTS: readonly (() => string)[] = [
  () => SRT,
  () => '{'.repeat(5000),
  () => '{\\'.repeat(5000),
  () => '<'.repeat(5000),
  () => '&#'.repeat(5000),
  () => '&#1'.padEnd(5000, '1'),
  () => '\0'.repeat(3000),
  () => '\u202e\u2066\u200f'.repeat(500),
  () => '00:00:01,000 --> '.repeat(900),
  () => '1\n00:00:99,999 --> 99:99:99,999\n',
  () => '\n \n'.repeat(4000),
  () => ' '.repeat(20_000),
  () => `Dialogue: ${','.repeat(8000)}\n`,
  () => '[Script Info]\n[Events]\nFormat: Text, Start, End\nDialogue: a,b,c\n',
  () => 'WEBVTT\n\n',
  () => '{0}{}|||{y:'.repeat(900),
  () => '<SAMI><BODY><SYNC Start=1><P Class=A>x'.repeat(300),
  () => '<tt ttp:frameRate="0"><p begin="1f" end="999999999999h"><span tts:fontStyle="italic">'.repeat(200),
  () => '<!--'.repeat(2000),
  () => "<p a='".repeat(2000),
  () => `${'-'.repeat(10_000)}>`,
  () => randomBytes(2000).toString('latin1'),
];

describe('hostile bytes', function () {
  this.timeout(120_000);

  it('have a verdict in time, each of 300 made files', () => {
    let seed = 7;
    const next = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % below;
    };
    let slowest = 0;
    for (let n = 0; n < 300; n += 1) {
      const parts = Array.from({ length: 1 + next(8) }, () => PARTS[next(PARTS.length)]?.() ?? '');
      const text = parts.join(next(2) ? '\n' : '').repeat(1 + next(n % 10 === 0 ? 40 : 3));
      const plain = Buffer.from(text, next(3) === 0 ? 'latin1' : 'utf8');
      const packed = next(4) === 0 ? zipOf({ [`${n}.srt`]: plain }, next(2) ? 'deflated' : 'stored') : plain;
      const bytes = next(3) === 0 ? flipped(packed, next) : packed;
      const began = performance.now();
      const result = openForeign(bytes, { language: next(2) ? 'ru' : 'en' });
      slowest = Math.max(slowest, performance.now() - began);
      expect(result.ok).to.be.a('boolean');
    }
    expect(slowest).to.be.lessThan(5000);
  });

  const flipped = (bytes: Buffer, next: (below: number) => number): Buffer => {
    const broken = Buffer.from(bytes).subarray(0, 1 + next(bytes.length));
    for (let n = 0; n < 20; n += 1) broken[next(broken.length)] = next(256);
    return broken;
  };

  it('are opened outside of the event loop, which goes on meanwhile', async () => {
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 5);
    const big = Buffer.from(`${'{\\'.repeat(40_000)}<${'&#1'.repeat(20_000)}\n${SRT}`.repeat(25));
    const verdicts = await Promise.all(
      [big, zipOf({ 'x.srt': big.subarray(0, 5 << 20) }, 'deflated'), Buffer.from(SRT)].map((bytes) =>
        readForeignFile(bytes, {}).then(
          () => 'opened',
          (error: { code?: string }) => error.code,
        ),
      ),
    );
    clearInterval(timer);
    expect(verdicts[2]).to.equal('opened');
    expect(verdicts.every((one) => one === 'opened' || one === 'PROVIDER_UNAVAILABLE')).to.equal(true);
    expect(turns).to.be.greaterThan(5);
  });
});
