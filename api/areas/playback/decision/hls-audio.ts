import type { AudioOptions } from '#areas/streaming/public.ts';
import type { Chosen, DecisionInput } from './candidates.ts';
import type { Profile } from './profiles.ts';
import { audioFaults } from './support.ts';
import type { Track } from './tracks.ts';

const FMP4_AUDIO = ['aac', 'ac3', 'eac3', 'opus', 'flac'];
const TS_AUDIO = ['aac', 'ac3'];
const STEREO_BITRATE = 160_000;
const SURROUND_BITRATE = 384_000;

export type Hls = NonNullable<Profile['hls']>;

export function containerOf(hls: Hls): 'fmp4' | 'ts' {
  return hls.segments.includes('fmp4') ? 'fmp4' : 'ts';
}

/**
 * The chosen track first. Players with audio renditions get the other tracks too, unless the account may not encode
 * them.
 */
export function audioOptions(
  { file, audio }: Chosen,
  { profile, limits, dynamicRange }: DecisionInput,
  hls: Hls,
): AudioOptions[] {
  if (!audio) return [];
  const encodes = limits.audioTranscode && !limits.remuxOnly;
  const all = file.tracks.filter((track) => track.kind === 'audio' && (encodes || canCopy(track, hls, profile)));
  const tracks = hls.audioRenditions ? [audio, ...all.filter((track) => track.id !== audio.id)] : [audio];
  return tracks.map((track) => {
    const options = audioOf(track, profile, hls);
    const evened = options.action === 'encode' && dynamicRange !== 'off' && { dynamicRange };
    return { ...options, ...evened, default: track.id === audio.id };
  });
}

/** True when the track needs no encoding. */
export function canCopy(track: Track, hls: Hls, profile: Profile): boolean {
  const carried = containerOf(hls) === 'fmp4' ? FMP4_AUDIO : TS_AUDIO;
  return carried.includes(track.codec) && audioFaults(track, hls.audio, profile.maxAudioChannels).length === 0;
}

function audioOf(track: Track, profile: Profile, hls: Hls): AudioOptions {
  const base = { streamId: track.id, streamIndex: track.index, sourceCodec: track.codec, default: false };
  const named = { ...(track.language && { language: track.language }), ...(track.title && { title: track.title }) };
  const own = track.channels ?? 2;
  if (canCopy(track, hls, profile)) {
    return {
      ...base,
      ...named,
      action: 'copy',
      codec: track.codec,
      channels: own,
      bitrate: track.bitrate ?? STEREO_BITRATE,
    };
  }
  const channels = own > 2 && mostAac(profile, hls) >= 6 ? 6 : Math.min(2, own);
  const bitrate = channels > 2 ? SURROUND_BITRATE : STEREO_BITRATE;
  return { ...base, ...named, action: 'encode', codec: 'aac', channels, bitrate };
}

/** AAC channels that the player supports. */
function mostAac(profile: Profile, hls: Hls): number {
  const supported = hls.audio.filter((one) => one.codec === 'aac').map((one) => one.maxChannels);
  return Math.min(profile.maxAudioChannels ?? 16, ...supported);
}
