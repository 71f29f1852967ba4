// Recordings in words.
import type { Recording, RecordingRule } from 'foyer-client';
import { language } from '#core/messages/text.ts';
import * as m from '#messages/recorder.ts';
import { whenOf } from '../guide/guide.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const KIB = 1024;
const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte', 'petabyte'] as const;

const STATES: Readonly<Record<Recording['state'], () => string>> = {
  scheduled: m.scheduled,
  conflict: m.conflict,
  recording: m.recording,
  completed: m.completed,
  partial: m.partial,
  failed: m.failed,
  cancelled: m.cancelled,
};

const REASONS: Readonly<Record<NonNullable<Recording['stateReason']>, () => string>> = {
  'tuners-busy': m.tunersBusy,
  'tuner-unreachable': m.tunerUnreachable,
  'no-signal': m.noSignal,
  drm: m.drm,
  'disk-full': m.diskFull,
  'programme-gone': m.programmeGone,
  stopped: m.stopped,
  gaps: m.hasGaps,
  'server-down': m.serverDown,
};

type Skip = 'owned' | 'repeat' | 'limit' | 'duplicate';
const SKIPS: Readonly<Record<Skip, (values: { count: number }) => string>> = {
  owned: m.skippedOwned,
  repeat: m.skippedRepeat,
  limit: m.skippedLimit,
  duplicate: m.skippedDuplicate,
};

export const skipText = (reason: Skip, count: number): string => SKIPS[reason]({ count });

export function stateText({ state, stateReason }: Pick<Recording, 'state' | 'stateReason'>): string {
  const reason = stateReason && REASONS[stateReason]();
  return reason ? m.stateLine({ state: STATES[state](), reason }) : STATES[state]();
}

/** The answer to pressing record. */
export function madeText({ state, title }: Pick<Recording, 'state' | 'title'>): string {
  if (state === 'conflict') return m.madeConflict({ title });
  return state === 'recording' ? m.madeRunning({ title }) : m.madeScheduled({ title });
}

/** Bytes in the largest unit of which there is one, in steps of 1024. */
export function sizeText(bytes: number): string {
  const step = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  const format = { style: 'unit', unit: UNITS[step] ?? 'byte', maximumFractionDigits: 1 } as const;
  if (step === 0) return new Intl.NumberFormat(language(), { ...format, unitDisplay: 'long' }).format(bytes);
  return new Intl.NumberFormat(language(), format).format(bytes / KIB ** step);
}

/** A length in hours and minutes, one of less than a minute in seconds. */
export function lengthText(ms: number): string {
  const unit = (value: number, name: string): string =>
    new Intl.NumberFormat(language(), { style: 'unit', unit: name, unitDisplay: 'short' }).format(value);
  if (ms < MINUTE) return unit(Math.round(ms / SECOND), 'second');
  const minutes = Math.round(ms / MINUTE);
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  return [hours > 0 && unit(hours, 'hour'), (rest > 0 || hours === 0) && unit(rest, 'minute')]
    .filter(Boolean)
    .join(' ');
}

export function gapsText({ gaps }: Pick<Recording, 'gaps'>): string {
  const ms = gaps.reduce((sum, { from, to }) => sum + Date.parse(to) - Date.parse(from), 0);
  return gaps.length > 0 ? m.gaps({ count: gaps.length, length: lengthText(ms) }) : '';
}

/** The share of a running recording that is over with its padding, 0 to 1. */
export function progressOf(recording: Recording, now: number): number {
  const start = Date.parse(recording.startAt) - recording.startPadMs;
  const end = Date.parse(recording.endAt) + recording.endPadMs;
  return Math.min(1, Math.max(0, (now - start) / (end - start)));
}

export function titleOf({ title, episodeTitle, seasonNumber, episodeNumber }: Recording): string {
  const numbers =
    seasonNumber !== undefined && episodeNumber !== undefined
      ? m.episode({ season: String(seasonNumber), episode: String(episodeNumber) })
      : '';
  return [title || m.hidden(), numbers, episodeTitle].filter(Boolean).join(' · ');
}

/** Channel, time, length and size in one line. */
export const lineOf = (recording: Recording): string =>
  [
    recording.channelName,
    whenOf(recording),
    recording.recordedMs > 0 ? lengthText(recording.recordedMs) : '',
    recording.sizeBytes ? sizeText(recording.sizeBytes) : '',
    gapsText(recording),
  ]
    .filter(Boolean)
    .join(' · ');

const DAY = 24 * 60 * MINUTE;

/** When a recording will be removed; empty for one that stays. The rule is its own. */
export function keptText(
  { state, keepDays, endAt, endPadMs }: Pick<Recording, 'state' | 'keepDays' | 'endAt' | 'endPadMs'>,
  rule: Pick<RecordingRule, 'keepLast'> | undefined,
): string {
  if (state === 'cancelled') return '';
  const isFinished = state === 'completed' || state === 'partial' || state === 'failed';
  const until = new Date(Date.parse(endAt) + endPadMs + (keepDays ?? 0) * DAY);
  const date = new Intl.DateTimeFormat(language(), { dateStyle: 'medium' }).format(until);
  const days = isFinished ? m.keptUntil({ date }) : m.keptDays({ count: keepDays ?? 0 });
  return [keepDays === undefined ? '' : days, rule?.keepLast === undefined ? '' : m.keptLast({ count: rule.keepLast })]
    .filter(Boolean)
    .join(' · ');
}

export const ruleLine = (rule: RecordingRule): string =>
  [
    rule.enabled ? '' : m.off(),
    rule.channelIds.length > 0 ? m.onChannels({ count: rule.channelIds.length }) : m.allChannels(),
    m.upcoming({ count: rule.upcoming }),
    rule.conflicts > 0 ? m.conflictCount({ count: rule.conflicts }) : '',
    m.recorded({ count: rule.recorded }),
    rule.mine ? '' : m.ofOthers(),
  ]
    .filter(Boolean)
    .join(' · ');
