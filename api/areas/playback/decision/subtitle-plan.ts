import { TEXT_CODECS } from '#areas/streaming/public.ts';
import type { Chosen, SubtitlePlan } from './candidates.ts';
import type { Profile } from './profiles.ts';
import type { Track } from './tracks.ts';

const PICTURES = ['pgs', 'vobsub', 'dvb_subtitle', 'dvbsub', 'xsub'];
/** Formats that each codec can be handed over in, beside vtt, which any text becomes. */
const OWN_FORMAT: Record<string, 'ass' | 'srt'> = { ass: 'ass', ssa: 'ass', subrip: 'srt' };

export function isPicture(track: Track): boolean {
  return PICTURES.includes(track.codec);
}

/** Whether its words can be handed over; what is neither text nor pictures cannot be shown at all. */
export function isText({ codec, externalPath }: Track): boolean {
  return TEXT_CODECS.includes(codec) || (externalPath !== undefined && !PICTURES.includes(codec));
}

/** A player has the pictures in the file that it plays itself; beside a stream nothing hands them over yet. */
const picturesBy = (profile: Profile, by: 'direct' | 'hls'): SubtitlePlan['delivery'] =>
  by === 'direct' && profile.subtitles.pictures ? 'pictures' : 'burn-in';

/** How the chosen subtitle reaches the viewer; text is burned in only for a client that can take it in no other way. */
export function subtitlePlan(
  { subtitle: track }: Pick<Chosen, 'subtitle'>,
  profile: Profile,
  by: 'direct' | 'hls',
): SubtitlePlan | undefined {
  if (!track) return undefined;
  if (isPicture(track)) return { track, delivery: picturesBy(profile, by) };
  return isText(track) ? { track, delivery: textDelivery(track, profile, by) } : undefined;
}

function textDelivery(track: Track, profile: Profile, by: 'direct' | 'hls'): SubtitlePlan['delivery'] {
  const inPlaylist = profile.hls?.webvtt === true;
  if (by === 'hls' && inPlaylist) return 'hls';
  if (takesBeside(track, profile)) return 'sidecar';
  return inPlaylist ? 'hls' : 'burn-in';
}

function takesBeside(track: Track, { subtitles }: Profile): boolean {
  const own = OWN_FORMAT[track.codec];
  return subtitles.formats.includes('vtt') || (own !== undefined && subtitles.formats.includes(own));
}
