import type { PlaybackStart } from '../playback.schemas.ts';
import type { CandidateFile, DecisionInput, Outcome } from './candidates.ts';
import { decide, type Refused } from './decision.ts';
import { lacksAudio, lacksSubtitle } from './tracks.ts';

export type Warning = PlaybackStart['warnings'][number];

interface Decided {
  outcome: Outcome | Refused;
  warnings: Warning[];
}

/**
 * The decision, with warnings about unmet preferences. A subtitle that the client did not name is dropped when it needs
 * burning in and that is not allowed.
 */
export function decideAnyhow(files: readonly CandidateFile[], input: DecisionInput): Decided {
  const first = decide(files, input);
  const unnamed = input.tracks.subtitleStreamId === undefined;
  const bare = 'refused' in first && unnamed && first.refused.includes('subtitle-burn-in');
  const outcome = bare ? decide(files, { ...input, tracks: { ...input.tracks, subtitleStreamId: null } }) : first;
  if ('refused' in outcome) return { outcome: first, warnings: [] };
  return { outcome, warnings: [...warningsOf(outcome, input), ...(bare ? ['subtitle-unavailable' as const] : [])] };
}

function warningsOf({ file }: Outcome, { tracks: options }: DecisionInput): Warning[] {
  return [
    ...(file.slowStorage ? ['storage-slow' as const] : []),
    ...(lacksAudio(file.tracks, options) ? ['audio-fallback' as const] : []),
    ...(lacksSubtitle(file.tracks, options) ? ['subtitle-unavailable' as const] : []),
  ];
}
