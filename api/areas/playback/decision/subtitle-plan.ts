import { TEXT_CODECS } from '#areas/streaming/public.ts';
import type { Chosen, SubtitlePlan } from './candidates.ts';
import type { Profile } from './profiles.ts';
import type { Track } from './tracks.ts';

const PICTURES = ['pgs', 'vobsub', 'dvb_subtitle', 'dvbsub', 'xsub'];
/** Formats of each codec for delivery, in addition to vtt. */
const OWN_FORMAT: Record<string, 'ass' | 'srt'> = { ass: 'ass', ssa: 'ass', subrip: 'srt' };

export function isPicture(track: Track): boolean {
  return PICTURES.includes(track.codec);
}

/** True when the text can be delivered. A track that is neither text nor pictures cannot be shown. */
export function isText({ codec, externalPath }: Track): boolean {
  return TEXT_CODECS.includes(codec) || (externalPath !== undefined && !PICTURES.includes(codec));
}

/** getSubtitleImages has the pictures of these, where they are inside the film. */
const STREAMED_PICTURES = ['pgs', 'vobsub'];

/** A client that draws pictures reads them separately from the stream; it cannot read other kinds, or a file of their own. */
const drawsItself = ({ codec, externalPath }: Track, { subtitles }: Profile): boolean =>
  subtitles.pictures && externalPath === undefined && STREAMED_PICTURES.includes(codec);

/** Delivery of the chosen subtitle. Text is burned in only for a client without text support. */
export function subtitlePlan(
  { subtitle: track }: Pick<Chosen, 'subtitle'>,
  profile: Profile,
  by: 'direct' | 'hls',
): SubtitlePlan | undefined {
  if (!track) return undefined;
  if (isPicture(track)) return { track, delivery: drawsItself(track, profile) ? 'pictures' : 'burn-in' };
  return isText(track) ? { track, delivery: textDelivery(track, profile, by) } : undefined;
}

function textDelivery(track: Track, profile: Profile, by: 'direct' | 'hls'): SubtitlePlan['delivery'] {
  const inPlaylist = profile.hls?.webvtt === true;
  if (by === 'hls' && inPlaylist) return 'hls';
  if (takesSidecar(track, profile)) return 'sidecar';
  return inPlaylist ? 'hls' : 'burn-in';
}

function takesSidecar(track: Track, { subtitles }: Profile): boolean {
  const own = OWN_FORMAT[track.codec];
  return subtitles.formats.includes('vtt') || (own !== undefined && subtitles.formats.includes(own));
}
