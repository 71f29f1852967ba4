// How the timing of a subtitle is moved, and the texts about it.
import type { SubtitleCorrection, SubtitleSync, SyncResult } from 'foyer-client';
import type { Problem } from '#core/api/errors.ts';
import { language } from '#core/messages/text.ts';
import { signedSeconds } from '#features/player/time.ts';
import * as m from '#messages/subtitles.ts';
import { timeText } from '#ui/failure-text.ts';

/** The steps of the buttons. */
export const STEPS_MS = [-500, -100, 100, 500] as const;
const MOST_MS = 3_600_000;

type Timing = Pick<SubtitleSync, 'offsetMs' | 'rate' | 'pieces'>;

export const within = (offsetMs: number): number => Math.min(MOST_MS, Math.max(-MOST_MS, offsetMs));

/** The timing with another offset. Its rate stays, and its pieces move as far. */
export function movedTo({ offsetMs, rate, pieces }: Timing, toMs: number): SubtitleCorrection {
  const moved = pieces.map((piece) => ({ ...piece, offsetMs: within(piece.offsetMs + toMs - offsetMs) }));
  return { offsetMs: toMs, rate, pieces: moved };
}

export const offsetText = (ms: number): string => signedSeconds(ms, language());

export const stepText = (ms: number): string =>
  ms < 0 ? m.earlierBy({ step: offsetText(ms) }) : m.laterBy({ step: offsetText(ms) });

/** What a fit came to. */
export function fitText({ outcome, sync }: Pick<SyncResult, 'outcome' | 'sync'>): string {
  switch (outcome) {
    case 'applied':
      return m.fitApplied({ offset: offsetText(sync.offsetMs) });
    case 'already-right':
      return m.fitRight();
    case 'no-match':
      return m.fitNoMatch();
    case 'running':
      return m.fitRunning();
  }
}

const REFUSALS: Readonly<Record<string, () => string>> = {
  'CONFLICT no-soundtrack': m.fitNoSound,
  'CONFLICT too-few-cues': m.fitFewCues,
  'CONFLICT sync-stopped': m.fitStopped,
  'CONFLICT sync-running': m.timingBusy,
  'MEDIA_UNSUPPORTED_CODEC no-times': m.fitNoTimes,
  'MEDIA_UNSUPPORTED_CODEC decode': m.fitNoTimes,
  'TRANSCODE_FAILED decode': m.fitUnreadable,
};

/** Why nothing was changed, in the words of this feature; undefined for failures that every page has. */
export const refusalText = ({ code, reason }: Problem): string | undefined => REFUSALS[`${code} ${reason}`]?.();

/** Why a fit was refused. Its only limit is the allowance of the day. */
export function fitRefusalText(problem: Problem): string | undefined {
  const { code, retryAfterSec } = problem;
  if (code === 'TRANSCODE_LIMIT_REACHED') return m.fitTooMany();
  if (code !== 'RATE_LIMITED') return refusalText(problem);
  if (retryAfterSec === undefined) return m.spent();
  return m.spentUntil({ time: timeText(new Date(Date.now() + retryAfterSec * 1000).toISOString()) });
}
