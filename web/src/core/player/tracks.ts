// The tracks of the played item, as the menus list them.
import type { MediaStream, PlaybackDecision, PlaybackStart } from '../../../../api/client/index.ts';

export type Subtitle = PlaybackStart['subtitles'][number];

/** Only tracks that have an id can be chosen. */
export const subtitlesOf = (start: PlaybackStart): (Subtitle & { streamId: string })[] =>
  start.subtitles.flatMap((one) => (one.streamId === undefined ? [] : [{ ...one, streamId: one.streamId }]));

/** Our overlay shows it; none at all is text too. */
export function isTextTrack(start: PlaybackStart, id: string | null): boolean {
  return id === null || start.subtitles.some((one) => one.streamId === id && one.url !== '');
}

/** The stream has the current subtitle in its pictures. */
export const deliveredAsPicture = ({ session }: PlaybackStart): boolean =>
  session.decision.subtitle?.delivery === 'burn-in';

/** The current subtitle when the page draws its pictures itself. */
export function deliveredToDraw({ session }: PlaybackStart, current: string | null): string | undefined {
  const { subtitle } = session.decision;
  return subtitle?.delivery === 'pictures' && subtitle.streamId === current ? current : undefined;
}

/** The address of pictures and sound. It also has the revision of the texts, which the overlay loads by itself. */
export const mediaOf = ({ session }: PlaybackStart): string => session.url.replace(/[?&]texts=[^&]*/, '');

/** The track that is still shown after a change was refused. */
export function subtitleBefore(start: PlaybackStart, current: string | null): string | null {
  const delivered = start.session.decision.subtitle?.streamId ?? null;
  return isTextTrack(start, current) ? current : delivered;
}

export type TextFormat = 'ass' | 'vtt';

export const formatOf = ({ format }: Subtitle): TextFormat => (/^(ass|ssa)$/i.test(format) ? 'ass' : 'vtt');

/** The next of a list after the current one, and the first after the last. */
export function nextOf<T>(list: readonly T[], isCurrent: (one: T) => boolean): T | undefined {
  return list[(list.findIndex(isCurrent) + 1) % list.length];
}

export type Quality = PlaybackDecision['alternatives'][number];

/** The quality that leaves the choice to the server and the line. */
export const AUTO = 'auto';

/** The next step below the delivered quality. */
export function lowerQuality({ bitrate, alternatives }: PlaybackDecision): Quality | undefined {
  return alternatives
    .filter((one) => one.method === 'transcode' && one.height > 0 && one.bitrate < bitrate)
    .sort((a, b) => b.bitrate - a.bitrate)[0];
}

/** The name of a language in the language of the page; the tag where there is no name. */
export function languageName(tag: string | undefined, shown: string): string | undefined {
  if (!tag || tag === 'und') return undefined;
  try {
    const name = new Intl.DisplayNames([shown], { type: 'language' }).of(tag) ?? tag;
    return name.charAt(0).toLocaleUpperCase(shown) + name.slice(1);
  } catch {
    return tag;
  }
}

export type Chapter = PlaybackStart['chapters'][number];

/** The chapter at a position. */
export const chapterAt = (chapters: readonly Chapter[], positionMs: number): Chapter | undefined =>
  chapters.findLast(({ startMs }) => startMs <= positionMs);

/** Where the chapter before or after begins; within 3 s of a chapter's begin, back means the one before. */
export function chapterBy(chapters: readonly Chapter[], positionMs: number, by: number): number | undefined {
  const starts = chapters.map(({ startMs }) => startMs);
  if (by > 0) return starts.find((startMs) => startMs > positionMs + 500);
  return starts.findLast((startMs) => startMs < positionMs - 3000);
}

/** The channels of an audio track as people name them. */
export function channelsOf({ channels }: Pick<MediaStream, 'channels'>): string | undefined {
  if (!channels) return undefined;
  const names: Readonly<Record<number, string>> = { 1: 'Mono', 2: 'Stereo', 6: '5.1', 8: '7.1' };
  return names[channels] ?? String(channels);
}
