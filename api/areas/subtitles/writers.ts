import { type Cue, decodeText, readCues, webvttBlock } from '#areas/streaming/public.ts';
import { readForeign } from '#kernel/reading.ts';
import { clock, restyled } from './restyled.ts';

const restyle = { module: new URL('./restyled.ts', import.meta.url), name: 'restyled', read: restyled };

export interface Shown {
  bytes: Uint8Array;
  language: string | null;
  /** Name of the subtitle format. */
  format: string;
  offsetMs: number;
}

/** Shifts cues and drops those that would end before the film begins. */
async function shifted({ bytes, format, language, offsetMs }: Shown): Promise<Cue[]> {
  const cues = await readCues(bytes, { format, ...(language && { language }) });
  return cues
    .map((cue) => ({ ...cue, startMs: Math.max(cue.startMs + offsetMs, 0), endMs: cue.endMs + offsetMs }))
    .filter((cue) => cue.endMs > 0);
}

export async function webvttOf(shown: Shown): Promise<string> {
  return `WEBVTT\n${(await shifted(shown)).map(webvttBlock).join('')}`;
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

/** A SubStation track with shifted times, or any other text in a default style. */
export async function substationOf(shown: Shown): Promise<string> {
  const text = decodeText(shown.bytes, shown.language ?? undefined);
  if (/^\uFEFF?\[Script Info\]/im.test(text.slice(0, 2000))) return readForeign(restyle, text, shown.offsetMs);
  const lines = (await shifted(shown)).map(
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
