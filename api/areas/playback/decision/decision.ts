import type { Method, PlaybackReason } from '../playback.schemas.ts';
import {
  type CandidateFile,
  type Chosen,
  copiedAudio,
  copiedVideo,
  type DecisionInput,
  failed,
  type Outcome,
} from './candidates.ts';
import { copiedPlan, encodedPlan, soundReasons } from './hls-plan.ts';
import { capsOf, quality } from './limits.ts';
import type { Profile } from './profiles.ts';
import { subtitlePlan } from './subtitle-plan.ts';
import { audioFaults, videoFaults } from './support.ts';
import { chooseAudio, chooseSubtitle, defaultAudio } from './tracks.ts';

/** No allowed method can play the file. */
export interface Refused {
  refused: PlaybackReason[];
}

const rank: Record<Method, number> = { direct_play: 0, direct_stream: 1, transcode: 2 };

/** Chooses the file that needs least work at the highest quality within the limits. Deterministic. */
export function decide(files: readonly CandidateFile[], input: DecisionInput): Outcome | Refused {
  const outcomes = files.map((file) => decideFile(file, input));
  const good = outcomes.filter((outcome): outcome is Outcome => 'decision' in outcome);
  const best = good.sort(
    (a, b) => rank[a.decision.method] - rank[b.decision.method] || b.decision.bitrate - a.decision.bitrate,
  )[0];
  return best ?? outcomes[0] ?? { refused: [] };
}

export function decideFile(file: CandidateFile, input: DecisionInput): Outcome | Refused {
  const made = decideAs(file, input);
  if ('refused' in made) return made;
  const whole = input.quality === 'original' ? made : decideAs(file, { ...input, quality: 'original' });
  const [original, ...rungs] = made.decision.alternatives;
  const source = original && !('refused' in whole) ? [{ ...original, ...deliveryOf(whole) }] : [];
  return { ...made, decision: { ...made.decision, alternatives: [...source, ...rungs] } };
}

/** Method, bitrate and height with which the source reaches the client. */
function deliveryOf({ decision: { method, bitrate, video } }: Outcome): {
  method: Method;
  bitrate: number;
  height?: number;
} {
  return { method, bitrate, ...(video && { height: video.height }) };
}

function decideAs(file: CandidateFile, input: DecisionInput): Outcome | Refused {
  const audio = chooseAudio(file.tracks, input.tracks);
  const chosen: Chosen = {
    file,
    video: file.tracks.find((track) => track.kind === 'video' && !track.attachedPicture),
    audio,
    subtitle: chooseSubtitle(file.tracks, audio, input.tracks),
  };
  const reasons = directPlayFaults(chosen, input);
  if (reasons.length === 0) return directPlay(chosen, input);
  const copied = input.allow.directStream ? copiedPlan(chosen, input) : { faults: ['direct-play-refused' as const] };
  if (!('faults' in copied)) {
    const why = [...new Set([...reasons, ...soundReasons(chosen, input)])];
    return { ...copied, decision: { ...copied.decision, reasons: why } };
  }
  const all = [...new Set([...reasons, ...copied.faults])];
  const encoded = mayEncode(input, chosen) ? encodedPlan(chosen, input) : undefined;
  return encoded ? { ...encoded, decision: { ...encoded.decision, reasons: all } } : { refused: all };
}

function mayEncode({ allow, limits }: DecisionInput, { video }: Chosen): boolean {
  return allow.transcode && !limits.remuxOnly && (video ? limits.videoTranscode : limits.audioTranscode);
}

/** Reasons of the failed direct play checks. */
function directPlayFaults(chosen: Chosen, input: DecisionInput): PlaybackReason[] {
  const { profile, allow } = input;
  const { file, audio, video } = chosen;
  const delivery = subtitlePlan(chosen, profile, 'direct')?.delivery;
  const isDefault = audio === undefined || audio.id === defaultAudio(file.tracks)?.id;
  return [
    ...failed([['direct-play-refused', allow.directPlay]]),
    ...containerFaults(chosen, profile),
    ...failed([
      ['audio-track-switch', profile.switchesAudio || isDefault],
      ['subtitle-burn-in', delivery !== 'burn-in' && delivery !== 'hls'],
    ]),
    ...capsOf(input).faults(file.bitrate, video?.height ?? 0),
  ];
}

function containerFaults({ file, video, audio }: Chosen, profile: Profile): PlaybackReason[] {
  const rules = profile.direct.filter(({ containers }) => (containers as readonly string[]).includes(file.container));
  const against = rules.length > 0 ? rules : profile.direct;
  const tried = against.map((rule) => [
    ...(video ? videoFaults(video, rule.video, profile) : []),
    ...(audio ? audioFaults(audio, rule.audio, profile.maxAudioChannels) : []),
  ]);
  const nearest = tried.sort((a, b) => a.length - b.length)[0] ?? [];
  return rules.length > 0 ? nearest : ['container-not-supported', ...nearest];
}

function directPlay(chosen: Chosen, input: DecisionInput): Outcome {
  const { file, video, audio } = chosen;
  const subtitle = subtitlePlan(chosen, input.profile, 'direct');
  return {
    file,
    subtitle,
    decision: {
      method: 'direct_play',
      reasons: [],
      fileId: file.id,
      container: file.container,
      ...(video && { video: copiedVideo(video, file) }),
      ...(audio && { audio: copiedAudio(audio) }),
      ...(subtitle && { subtitle: { streamId: subtitle.track.id, delivery: subtitle.delivery } }),
      bitrate: file.bitrate,
      quality: 'original',
      alternatives: quality.alternatives(chosen, input),
    },
  };
}
