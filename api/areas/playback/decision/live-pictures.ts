// The picture subtitles of a broadcast, which no playlist carries: they are burned into a rendition of their own.
import type { PlaybackStart } from '../playback.schemas.ts';
import { speaks, type Track } from './tracks.ts';

const PICTURES = ['dvb_subtitle', 'dvbsub'];

export interface PicturesOptions {
  subtitleStreamId?: string | null | undefined;
  subtitleLanguage?: string | null | undefined;
}

const isPictures = ({ kind, codec }: Track): boolean => kind === 'subtitle' && PICTURES.includes(codec);

/** The chosen track; undefined where none is, or where the broadcast has the same language as text. */
export function chosenPictures(tracks: readonly Track[], options: PicturesOptions): Track | undefined {
  const { subtitleStreamId: id, subtitleLanguage: language } = options;
  const pictures = tracks.filter(isPictures);
  if (id !== undefined) return pictures.find((track) => track.id === id);
  if (!language) return undefined;
  const hasText = tracks.some((one) => one.kind === 'subtitle' && !isPictures(one) && speaks(one, language));
  return hasText ? undefined : pictures.find((track) => speaks(track, language));
}

/** The tracks that a viewer may choose. They have no text, so no address. */
export function offeredPictures(tracks: readonly Track[], channelId: string): PlaybackStart['subtitles'] {
  return tracks.filter(isPictures).map((track) => ({
    ...{ streamId: track.id, file: channelId, format: 'dvb', url: '' },
    ...(track.language !== undefined && { language: track.language }),
    ...{ forced: false, hearingImpaired: track.hearingImpaired ?? false, default: false },
  }));
}
