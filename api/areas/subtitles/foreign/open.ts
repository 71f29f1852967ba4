// Opens bytes that a provider sent. It runs in a thread of its own, so it imports little.
import { parseCues } from '#platform/subtitles/cues.ts';
import { type Entry, isGzip, isZip, MOST_TEXT_BYTES, readEntry, readGzip, zipEntries } from './archive.ts';
import { decodeForeign } from './encoding.ts';
import { subripOf } from './made-cues.ts';
import { isMicroDvd, microDvdCues } from './microdvd.ts';
import { isSami, samiCues } from './sami.ts';
import { isTtml, ttmlCues } from './ttml.ts';

const MOST_CUES = 50_000;

export interface Hints {
  /** BCP 47. */
  language?: string;
  /** Of the film. */
  frameRate?: number;
  /** Name of the entry in an archive. */
  entry?: string;
  /** Season and episode, to choose among the entries of an archive. */
  episode?: { season: number; number: number };
}

export type Opened =
  | { ok: true; text: string; format: 'srt' | 'vtt' | 'ass'; cueCount: number }
  | { ok: false; why: 'archive' | 'size' | 'web-page' | 'no-cues' | 'too-many-cues' };

/** The text of a foreign file in UTF-8, or the reason why it is no subtitle. */
export function openForeign(bytes: Uint8Array, hints: Hints): Opened {
  const unpacked = unpackedOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), hints);
  if (!unpacked) return { ok: false, why: 'archive' };
  if (unpacked.length > MOST_TEXT_BYTES) return { ok: false, why: 'size' };
  const text = decodeForeign(unpacked, hints.language)
    .replace(/^\uFEFF/, '')
    .replaceAll('\0', '')
    .replace(/\r\n?/g, '\n');
  if (isWebPage(text)) return { ok: false, why: 'web-page' };
  return counted(kept(text, hints));
}

function unpackedOf(bytes: Buffer, hints: Hints): Buffer | undefined {
  if (isGzip(bytes)) return readGzip(bytes);
  if (!isZip(bytes)) return bytes;
  const entry = chosen(zipEntries(bytes), hints);
  const text = entry && readEntry(bytes, entry);
  return text && !isZip(text) && !isGzip(text) ? text : undefined;
}

/** The named entry, else that of the episode, else the largest. */
function chosen(entries: readonly Entry[], { entry, episode }: Hints): Entry | undefined {
  if (entry !== undefined) return entries.find(({ name }) => name === entry);
  const own = episode ? entries.filter(({ name }) => namesEpisode(name, episode)) : [];
  const usable = (own.length > 0 ? own : entries).filter(({ size }) => size <= MOST_TEXT_BYTES);
  return usable.reduce<Entry | undefined>((best, one) => (best && best.size >= one.size ? best : one), undefined);
}

function namesEpisode(name: string, { season, number }: { season: number; number: number }): boolean {
  const found = /s(\d{1,2})[ ._-]?e(\d{1,3})|(\d{1,2})x(\d{1,3})/i.exec(name);
  return found !== null && Number(found[1] ?? found[3]) === season && Number(found[2] ?? found[4]) === number;
}

/** A sign-in page of a network or an error page under the name of a subtitle. */
function isWebPage(text: string): boolean {
  const head = text.slice(0, 4000);
  return !isSami(head) && !isTtml(head) && /<(?:!doctype html|html|head|body|script)\b/i.test(head);
}

interface Kept {
  text: string;
  format: 'srt' | 'vtt' | 'ass';
  /** Cues that the text seems to have, before it is read. */
  claimed: number;
}

function kept(text: string, { frameRate, language }: Hints): Kept {
  const head = text.slice(0, 4000);
  if (/^\s*WEBVTT/.test(head)) return { text, format: 'vtt', claimed: count(text, '-->') };
  if (/^\[Script Info\]/im.test(head)) return { text, format: 'ass', claimed: count(text, 'Dialogue:') };
  if (isSami(head)) return made(samiCues(text, language));
  if (isTtml(head)) return made(ttmlCues(text));
  if (isMicroDvd(head)) return made(microDvdCues(text, frameRate));
  return { text, format: 'srt', claimed: count(text, '-->') };
}

const made = (cues: Parameters<typeof subripOf>[0]): Kept => ({
  ...{ text: cues.length > MOST_CUES ? '' : subripOf(cues), format: 'srt', claimed: cues.length },
});

/** How often a sign is in a text, up to one more than a subtitle may have cues. */
function count(text: string, sign: string): number {
  let found = 0;
  for (let at = text.indexOf(sign); at >= 0 && found <= MOST_CUES; at = text.indexOf(sign, at + sign.length))
    found += 1;
  return found;
}

function counted({ text, format, claimed }: Kept): Opened {
  if (claimed > MOST_CUES) return { ok: false, why: 'too-many-cues' };
  const cueCount = parseCues(text, format === 'ass' ? 'ass' : format).length;
  return cueCount === 0 ? { ok: false, why: 'no-cues' } : { ok: true, text, format, cueCount };
}
