import { expect } from 'chai';
import { attachment, titleName } from '#areas/streaming/files/download-name.ts';
import { parseRange } from '#areas/streaming/files/ranges.ts';
import type { PrerollRow } from '#areas/streaming/preroll/preroll.store.ts';
import { choosePrerolls, inSeason } from '#areas/streaming/preroll/preroll.ts';
import { runsOf } from '#areas/streaming/sessions/session.view.ts';
import { decodeText, parseCues } from '#platform/subtitles/cues.ts';

describe('parseCues', () => {
  it('reads SubRip with its usual faults', () => {
    const text =
      '\ufeff1\r\n00:00:01,5 --> 00:00:02,000 X1:1\r\n<font color="red">a < b</font>\r\n<i>c</i>\r\n\r\n\r\nnonsense\r\n\r\n3\r\n0:00:05.000 --> 00:00:04.000\r\nbackwards\r\n\r\n00:01:00,000-->00:01:01,000\r\nno number & no end';
    expect(parseCues(text, 'srt')).to.deep.equal([
      { startMs: 1500, endMs: 2000, text: 'a &lt; b\n<i>c</i>' },
      { startMs: 60_000, endMs: 61_000, text: 'no number &amp; no end' },
    ]);
  });

  it('reads WebVTT without its notes, with its positions, and lets no markup through', () => {
    const text = 'WEBVTT\n\nNOTE a\n\nid\n00:01.000 --> 00:02.000 line:0\n<v Bob>hi<script>x</script> --> &lt;b&gt;\n';
    expect(parseCues(text, 'vtt')).to.deep.equal([
      { startMs: 1000, endMs: 2000, text: 'hix --&gt; &lt;b&gt;', settings: 'line:0' },
    ]);
  });

  it('lets no control characters stand for the brackets of tags', () => {
    const text =
      '1\n00:00:01,000 --> 00:00:02,000\n\u0001script\u0002 & <i>so</i>\n\n2\n00:00:03,000 --> 00:00:04,000\n\u0001b\u0002';
    expect(parseCues(text, 'srt').map((cue) => cue.text)).to.deep.equal(['script &amp; <i>so</i>', 'b']);
  });

  it('reads SubStation by its own field order, keeps italics, drops drawings', () => {
    const text =
      '[Script Info]\n[Events]\nFormat: Start, End, Style, Text\nDialogue: 0:00:02.50,0:00:04.00,D,{\\an8\\i1}Hello{\\i0}, you\\Nthere\nDialogue: 0:00:03.00,0:00:04.00,D,{\\pos(96,144)}here\nDialogue: 0:00:01.00,0:00:04.00,D,{\\p1}m 0 0 l 1 1{\\p0}\nComment: 0:00:01.00,0:00:04.00,D,no';
    expect(parseCues(text, 'ass')).to.deep.equal([
      { startMs: 2500, endMs: 4000, text: '<i>Hello</i>, you\nthere', settings: 'line:0' },
      { startMs: 3000, endMs: 4000, text: 'here', settings: 'line:50% position:25%' },
    ]);
  });

  it('knows how the bytes are written', () => {
    expect(decodeText(Buffer.from('é', 'utf8'))).to.equal('é');
    expect(decodeText(Buffer.from([0xe9]))).to.equal('é');
    expect(decodeText(Buffer.from([0xcf, 0xf0, 0xe8]), 'ru')).to.equal('При');
    expect(decodeText(Buffer.from('\ufeffé', 'utf16le'))).to.equal('é');
  });
});

describe('names of downloads', () => {
  it('hold the title, in letters of any script, without a path', () => {
    expect(titleName({ type: 'movie', title: 'A/B: "C"', year: 1999 }, '.mkv')).to.equal('A B C (1999).mkv');
    const episode = { type: 'episode', title: 'Pilot', showTitle: 'Show', season: 1, number: 2 };
    expect(titleName(episode, '.mp4')).to.equal('Show - S01E02 - Pilot.mp4');
    expect(attachment("千と'(1).mkv")).to.equal(
      `attachment; filename="__'(1).mkv"; filename*=UTF-8''%E5%8D%83%E3%81%A8%27%281%29.mkv`,
    );
    expect(attachment('../etc/a"b\n.mkv')).to.equal(`attachment; filename="a_b.mkv"; filename*=UTF-8''a%22b.mkv`);
  });
});

describe('parseRange', () => {
  const cases: [string | undefined, unknown][] = [
    [undefined, 'whole'],
    ['bytes=0-0', [{ start: 0, end: 0 }]],
    ['bytes=10-', [{ start: 10, end: 99 }]],
    ['bytes=-30', [{ start: 70, end: 99 }]],
    ['bytes=90-200', [{ start: 90, end: 99 }]],
    [
      'bytes=0-1, 5-6,200-',
      [
        { start: 0, end: 1 },
        { start: 5, end: 6 },
      ],
    ],
    ['bytes=100-', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=5-4', 'whole'],
    ['bytes=-', 'whole'],
    ['items=0-1', 'whole'],
    ['bytes=0-1,x', 'whole'],
    [`bytes=${'0-1,'.repeat(8)}0-1`, 'whole'],
  ];
  for (const [header, expected] of cases) {
    it(`of ${header}`, () => expect(parseRange(header, 100)).to.deep.equal(expected));
  }
});

describe('clips before films', () => {
  const clip = (id: string, more: object = {}) =>
    ({
      ...{ id, position: 0, item_id: id, title: id, duration_ms: 1000, weight: 1, season: null, library_ids: [] },
      ...{ age_rating: null, state: 'ready', error: null, made_from: null, ageYears: 0 },
      ...more,
    }) as PrerollRow & { ageYears: number };
  const rules = {
    enabled: true,
    pick: 'random' as const,
    maxClips: 2,
    skippableAfterMs: null,
    itemTypes: ['movie' as const],
    resumeToo: false,
  };
  const options = { libraryId: 'l', itemType: 'movie', resumes: false, day: '12-24', recent: [], random: () => 0 };

  it('are ready, in season, of that library and within the age limit', () => {
    const clips = [
      clip('a', { state: 'preparing' }),
      clip('b', { season: { from: '11-01', to: '01-06' } }),
      clip('c', { season: { from: '02-01', to: '03-01' } }),
      clip('d', { library_ids: ['other'] }),
      clip('e', { ageYears: 16 }),
      clip('f'),
    ];
    const chosen = choosePrerolls({ ...rules, pick: 'all' }, clips, { ...options, ageLimit: 12 });
    expect(chosen.map((one) => one.id)).to.deep.equal(['b', 'f']);
    expect(choosePrerolls(rules, clips, { ...options, resumes: true })).to.deep.equal([]);
    expect(choosePrerolls(rules, clips, { ...options, itemType: 'episode' })).to.deep.equal([]);
  });

  it('are drawn without doubles and not the last three again', () => {
    const clips = ['a', 'b', 'c', 'd', 'e'].map((id) => clip(id));
    const chosen = choosePrerolls(rules, clips, { ...options, recent: ['a', 'b', 'c'] });
    expect(chosen.map((one) => one.id).sort()).to.deep.equal(['d', 'e']);
    expect(choosePrerolls(rules, clips.slice(0, 2), { ...options, recent: ['a', 'b'] }).length).to.equal(2);
  });

  it('keep seasons over the new year', () => {
    expect(['12-31', '01-01', '01-07'].map((day) => inSeason({ from: '12-01', to: '01-06' }, day))).to.deep.equal([
      true,
      true,
      false,
    ]);
  });
});

describe('runsOf', () => {
  it('joins neighbours', () => {
    expect(runsOf([5, 1, 2, 3, 7])).to.deep.equal([
      { from: 1, to: 3 },
      { from: 5, to: 5 },
      { from: 7, to: 7 },
    ]);
  });
});
