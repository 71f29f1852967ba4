// Broken and hostile subtitle files, each made from its number: the same number gives the same bytes.
import { gzipSync } from 'node:zlib';
import { mutated, type Next, noise, pick, seeded } from './seeded.ts';
import { zipOf } from './zip-files.ts';

const SRT = '1\n00:00:01,000 --> 00:00:02,500\nA word\n\n2\n00:00:03,000 --> 00:00:04,500\n<i>Grüße</i> & more\n';
const VTT = 'WEBVTT\n\n00:01.000 --> 00:02.000 align:start\nA <b>word</b>\n';
const ASS =
  '[Script Info]\nPlayResX: 640\n[V4+ Styles]\nFormat: Name, Fontname\nStyle: A,Arial\n[Events]\nFormat: Layer, Start, End, Style, Text\nDialogue: 0,0:00:01.00,0:00:02.00,A,{\\k50\\t(0,500,\\frz90)\\move(1,2,3,4)}Word\n';
const SAMI =
  '<SAMI><HEAD><STYLE>.A {lang: en-US;}</STYLE></HEAD><BODY><SYNC Start=1000><P Class=A>x<br>y &amp; z</BODY></SAMI>';
const TTML =
  '<?xml version="1.0"?><tt xmlns="http://www.w3.org/ns/ttml"><body><div><p begin="1s" end="2s">a<br/>b</p></div></body></tt>';
const MICRODVD = '{1}{1}25.000\n{25}{50}One|{y:i}Two\n{60}{}Three\n';
const GOOD = [SRT, VTT, ASS, SAMI, TTML, MICRODVD] as const;

/** Repeated, each keeps a careless reader busy. */
const UNITS = [
  ...[
    '{',
    '{\\',
    '<',
    '</',
    '&#',
    '&#1',
    '&amp',
    '\0',
    '\u202e\u2066\u200f',
    ' ',
    '\t ',
    '\r',
    '\n \n',
    '-',
    '-->',
    '<!--',
  ],
  ...[
    '00:00:01,000 --> ',
    '0',
    '9:',
    ',',
    "<p a='",
    '<p a="',
    '<i><b>',
    '{0}{}|||{y:',
    '{1}{2}x\n',
    '{\\t(0,1,',
    '{\\k1}',
    'm 0 0 l ',
  ],
  ...[
    '<SYNC Start=1><P Class=A>x',
    '<P Class=',
    '<p begin="1f" end="9h">',
    '<span tts:fontStyle="italic">',
    '&lt;',
    '[',
    '[Events]\n',
  ],
  ...[
    'Dialogue: 0,0:00:01.00,0:00:02.00,A,{\\k1}x\n',
    'Format: ',
    '00:00:01.000 --> 00:00:02.000\nx\n\n',
    '1\n',
    'NOTE ',
    '<c.a.b>',
    '<v ',
  ],
] as const;

/** From the beginning of a font, a picture, a program or another archive. */
const HEADS = [
  '\x00\x01\x00\x00\x00\x0fDSIG',
  'OTTO',
  'wOF2',
  'ttcf',
  'PK\x03\x04',
  'PK\x05\x06',
  '\x1f\x8b\x08',
  '7z\xbc\xaf',
  'Rar!\x1a\x07',
];

const mixed = (next: Next): Buffer => {
  const parts = Array.from({ length: 1 + next(8) }, () =>
    next(3) === 0 ? pick(next, GOOD) : pick(next, UNITS).repeat(1 + next(3000)),
  );
  return Buffer.from(parts.join(next(2) ? '\n' : ''), next(3) === 0 ? 'latin1' : 'utf8');
};

/** One line: inside of a cue, before the first, or all there is. Up to 10 MB. */
function longLine(next: Next): Buffer {
  const size = pick(next, [100_000, 1_000_000, 4_900_000, 5_300_000, 10_000_000]);
  const unit = pick(next, UNITS).replaceAll('\n', '');
  const line = unit.repeat(Math.ceil(size / Math.max(1, Buffer.byteLength(unit))));
  return Buffer.from(
    pick(next, [line, SRT + line, ASS + line, VTT + line, `{1}{2}${line}`, `${SAMI}${line}`, `${line}\n${SRT}`]),
  );
}

function archive(next: Next): Buffer {
  const large = Buffer.alloc(pick(next, [6 << 20, 30 << 20, 60 << 20]), pick(next, UNITS));
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`${n}.srt`, '']));
  const made = pick(next, [
    () => zipOf({ 'x.srt': large }, 'deflated'),
    () => gzipSync(large),
    () => gzipSync(gzipSync(large)),
    () => zipOf(many),
    () => zipOf({ 'x.srt': zipOf({ 'y.srt': SRT }) }),
    () => zipOf({ '../../etc/cron.d/x.srt': SRT, 'C:\\x.srt': SRT, '/x.srt': SRT, 'a\0b.srt': SRT }),
    () => zipOf({ [`${'a/'.repeat(20_000)}x.srt`]: SRT, [`${'\u202e'.repeat(900)}.srt`]: SRT }),
    () => zipOf({ 'x.srt': pick(next, GOOD) }, 'deflated'),
  ])();
  return next(2) ? mutated(made, next) : made;
}

/** Fonts by themselves, in an archive, and in a SubStation file, whose letters for them may be wrong. */
function font(next: Next): Buffer {
  const bytes = Buffer.concat([Buffer.from(pick(next, HEADS), 'latin1'), noise(next, 20_000)]);
  const coded = bytes.toString('base64').replaceAll(/.{80}/g, '$&\n');
  return pick(next, [
    () => bytes,
    () => zipOf({ 'a.ttf': bytes, 'x.ass': ASS }, 'deflated'),
    () => Buffer.from(`${ASS}\n[Fonts]\nfontname: ../../a.ttf\n${coded}\n`),
    () => Buffer.from(`[Script Info]\n[Fonts]\n${'fontname: a\n!\n'.repeat(20_000)}\n${ASS}`),
    () => mutated(Buffer.from(`${ASS}\n[Graphics]\nfilename: x\n${coded}`), next),
  ])();
}

/** Marks of an encoding before text of another one, odd lengths, and directions that change. */
function encoded(next: Next): Buffer {
  const text = `${pick(next, GOOD)}${pick(next, ['\u202e', '\u2066\u2069', '\0', '\ufeff', '\ud800', '\u{1f4a3}']).repeat(next(5000))}`;
  const mark = Buffer.from(pick(next, [[], [0xff, 0xfe], [0xfe, 0xff], [0xef, 0xbb, 0xbf], [0xff, 0xfe, 0, 0]]));
  const body = Buffer.from(text, pick(next, ['utf8', 'utf16le', 'latin1'] as const));
  return Buffer.concat([mark, body.subarray(next(2))]);
}

/** More cues than any film has, of each format. */
function crowded(next: Next): Buffer {
  const [unit, head] = pick(next, [
    ['00:00:01,000 --> 00:00:02,000\nx\n\n', ''],
    ['00:01.000 --> 00:02.000\nx\n\n', 'WEBVTT\n\n'],
    ['{1}{2}x\n', ''],
    ['Dialogue: 0,0:00:01.00,0:00:02.00,A,x\n', ASS],
    ['<SYNC Start=1><P>x', '<SAMI><BODY>'],
    ['<p begin="1s" end="2s">x</p>', '<tt><body><div>'],
  ] as const);
  return Buffer.from(head + unit.repeat(pick(next, [49_000, 60_000, 90_000])));
}

const KINDS = [mixed, mixed, mixed, longLine, archive, font, encoded, crowded] as const;

export function hostileSubtitle(number: number): Buffer {
  const next = seeded(number);
  const kind = number % 10;
  if (kind >= KINDS.length) return mutated(Buffer.from(pick(next, GOOD).repeat(1 + next(200))), next);
  return (KINDS[kind] ?? mixed)(next);
}
