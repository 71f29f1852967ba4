import type { Cue } from '#platform/subtitles/cues.ts';
import { type StreamPlan, segmentStartMs, TRANSPORT_OFFSET_MS } from '../segments/plan.ts';

export const TELETEXT = 'dvb_teletext';

/** Codecs that workers extract as text. A track that ffmpeg cannot read would fail the others of the file. */
export const TEXT_CODECS: readonly string[] = [
  ...['subrip', 'ass', 'ssa', 'webvtt', 'mov_text', 'text'],
  ...[TELETEXT, 'eia_608'],
];

/**
 * Key of an extracted text track in the bucket `foyer-subtitles`: SubRip, WebVTT or SubStation in UTF-8, on the film's
 * clock.
 */
export function textTrackKey(source: { fileId: string; version: string }, streamIndex: number): string {
  return `tracks/${source.fileId}/${source.version}/${streamIndex}.txt`;
}

/** Key of the list of attached fonts, written after all fonts are stored. */
export function fontsKey(source: { fileId: string; version: string }): string {
  return `fonts/${source.fileId}/${source.version}/list.json`;
}

/** Key of an attached font, by its position among the attachments. */
export function fontKey(source: { fileId: string; version: string }, place: number): string {
  return `fonts/${source.fileId}/${source.version}/${place}`;
}

/** Limit of a segment; players draw no more. */
const MOST_SHOWN = 200;

/**
 * A WebVTT segment with the complete times of its cues. A cue that crosses a boundary is in both segments, and players
 * show it once. The map relates the segment clock to the beginning of the film.
 */
export function vttSegment(plan: StreamPlan, n: number, cues: readonly Cue[]): string {
  const [start, end] = [segmentStartMs(plan, n), segmentStartMs(plan, n + 1)];
  const ticks = plan.container === 'ts' ? TRANSPORT_OFFSET_MS * 90 : 0;
  const head = `WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:${ticks},LOCAL:00:00:00.000\n`;
  const shown = cues.filter((cue) => cue.startMs < end && cue.endMs > start).slice(0, MOST_SHOWN);
  return `${head}${shown.map(webvttBlock).join('') || '\n'}`;
}

/** Plain text as WebVTT. */
export const escapedText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** A WebVTT cue block, with the empty line before it. */
export function webvttBlock({ startMs, endMs, settings, text }: Cue): string {
  return `\n${clock(startMs)} --> ${clock(endMs)}${settings ? ` ${settings}` : ''}\n${text}\n`;
}

function clock(ms: number): string {
  const [h, m, s] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, Math.floor(ms / 1000) % 60];
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${two(h)}:${two(m)}:${two(s)}.${String(ms % 1000).padStart(3, '0')}`;
}
