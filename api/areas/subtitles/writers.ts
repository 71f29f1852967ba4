import { type Cue, decodeText, readCues, webvttBlock } from '#areas/streaming/public.ts';
import { readForeign } from '#kernel/reading.ts';
import { clock, timedSubstation } from '#platform/subtitles/substation.ts';
import { type Timing, timedCues } from '#platform/subtitles/timing.ts';

const inTime = {
  module: new URL('../../platform/subtitles/substation.ts', import.meta.url),
  name: 'timedSubstation',
  read: timedSubstation,
};

export interface Shown {
  bytes: Uint8Array;
  language: string | null;
  /** Name of the subtitle format. */
  format: string;
  timing: Timing;
}

async function cuesOf({ bytes, format, language, timing }: Shown): Promise<readonly Cue[]> {
  return timedCues(await readCues(bytes, { format, ...(language && { language }) }), timing);
}

export async function webvttOf(shown: Shown): Promise<string> {
  return `WEBVTT\n${(await cuesOf(shown)).map(webvttBlock).join('')}`;
}

const HEAD = `[Script Info]
ScriptType: v4.00+
PlayResX: 384
PlayResY: 288
ScaledBorderAndShadow: yes

[V4+ Styles]
Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV, Encoding
Style: Default,Arial,16,&Hffffff,&Hffffff,&H0,&H0,0,0,0,0,100,100,0,0,1,1,0,2,10,10,10,1

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
`;

/** A SubStation track at its corrected times, or any other text in a default style. */
export async function substationOf(shown: Shown): Promise<string> {
  const text = decodeText(shown.bytes, shown.language ?? undefined);
  if (/^\uFEFF?\[Script Info\]/im.test(text.slice(0, 2000))) return readForeign(inTime, text, shown.timing);
  const lines = (await cuesOf(shown)).map(
    ({ startMs, endMs, text }) => `Dialogue: 0,${clock(startMs)},${clock(endMs)},Default,,0,0,0,,${styled(text)}\n`,
  );
  return HEAD + lines.join('');
}

const ENTITIES: Record<string, string> = { lt: '<', gt: '>', amp: '&', nbsp: '\\h', lrm: '\u200E', rlm: '\u200F' };

/** Converts tags and entities of a cue to SubStation. Braces would be read as codes. */
function styled(text: string): string {
  return text
    .replace(/[{}]/g, (brace) => (brace === '{' ? '(' : ')'))
    .replace(/<(\/?)([ibu])>/g, (_, slash: string, tag: string) => `{\\${tag}${slash ? 0 : 1}}`)
    .replace(/&(\w+);/g, (all, name: string) => ENTITIES[name] ?? all)
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Math.min(Number(code), 0x10_ffff)))
    .replaceAll('\n', '\\N');
}
