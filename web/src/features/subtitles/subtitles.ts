// Requests of the subtitle tools, and their words.
import type {
  GenerationRequest,
  SubtitleCandidate,
  SubtitleChoice,
  SubtitleCorrection,
  SubtitleSync,
  SubtitleTrack,
  SyncResult,
} from 'foyer-client';
import { api } from '#core/api/client.ts';
import { invalidate } from '#core/cache/query.ts';
import { language } from '#core/messages/text.ts';
import { languageName } from '#core/player/tracks.ts';
import * as m from '#messages/subtitles.ts';

/** Languages that films most often have subtitles in, after those that the person chose. */
const USUAL =
  'ar bg cs da de el en es et fa fi fr he hi hr hu id it ja ko nb nl pl pt pt-BR ro ru sk sl sr sv th tr uk vi zh';

export interface Option {
  value: string;
  label: string;
}

export const nameOf = (tag: string | undefined): string => languageName(tag, language()) ?? m.unknownLanguage();

/** The languages of a list as choices; the person's own first. */
export function languageOptions(own: readonly string[], all: readonly string[] = USUAL.split(' ')): Option[] {
  const rest = all
    .filter((tag) => !own.includes(tag))
    .map((value) => ({ value, label: nameOf(value) }))
    .sort((a, b) => a.label.localeCompare(b.label, language()));
  return [...own.map((value) => ({ value, label: nameOf(value) })), ...rest];
}

const MATCHES: Readonly<Record<SubtitleCandidate['matchedBy'], () => string>> = {
  hash: m.byHash,
  id: m.byId,
  episode: m.byEpisode,
  release: m.byRelease,
  title: m.byTitle,
};

/** Why a finding fits, and what else is known of it. */
export function candidateText(one: SubtitleCandidate): string {
  const parts = [
    ...[nameOf(one.language), one.providerName, MATCHES[one.matchedBy](), `${one.score} %`],
    ...[one.hearingImpaired && m.hearingImpaired(), one.forced && m.forced(), one.translatedByMachine && m.machine()],
  ];
  return parts.filter(Boolean).join(' · ');
}

const SOURCES: Readonly<Record<NonNullable<SubtitleTrack['source']>, () => string>> = {
  embedded: m.inFilm,
  sidecar: m.sidecar,
  fetched: m.fetched,
  generated: m.generated,
};

/** Where a track comes from, and its marks. */
export function trackText(track: Partial<SubtitleTrack>): string {
  const parts = [
    ...[track.source && SOURCES[track.source](), track.release ?? track.title, track.format?.toUpperCase()],
    ...[track.hearingImpaired && m.hearingImpaired(), track.forced && m.forced()],
  ];
  return parts.filter(Boolean).join(' · ');
}

const STATES: Readonly<Record<GenerationRequest['state'], (one: GenerationRequest) => string>> = {
  waiting: () => m.stateWaiting(),
  running: ({ progress }) => m.progress({ percent: Math.floor(progress * 100) }),
  finished: () => m.stateFinished(),
  failed: ({ error }) => m.failedMaking({ reason: FAILURES[error?.reason ?? 'model']() }),
  cancelled: () => m.stateCancelled(),
};
const FAILURES: Readonly<Record<NonNullable<GenerationRequest['error']>['reason'], () => string>> = {
  'no-speech': m.reasonNoSpeech,
  unreadable: m.reasonUnreadable,
  storage: m.reasonStorage,
  model: m.reasonModel,
  'worker-lost': m.reasonWorkerLost,
};

export const requestText = (one: GenerationRequest): string => STATES[one.state](one);

/** After a change every answer with streams is old. */
async function changed(): Promise<void> {
  await Promise.all([invalidate('listItemFiles'), invalidate('getItem'), invalidate('getSubtitleCapabilities')]);
}

/** Adds a finding to the film. Returns the id of its track. */
export async function fetchSubtitle(itemId: string, choice: SubtitleChoice): Promise<string> {
  const { subtitle } = await api.fetchSubtitle({ params: { id: itemId }, body: choice });
  await changed();
  return subtitle.id;
}

/** Removes a fetched text, whose `file` is the id of its stream. */
export async function removeSubtitle(itemId: string, streamId: string): Promise<void> {
  await api.removeSubtitle({ params: { id: itemId, file: streamId } });
  await changed();
}

export async function makeSubtitle(
  itemId: string,
  body: { language?: string; task: 'transcribe' | 'translate' },
): Promise<void> {
  await api.generateSubtitles({ params: { id: itemId }, body });
  await Promise.all([invalidate('listGeneratedSubtitles'), invalidate('getSubtitleCapabilities')]);
}

/** Stops a request, or removes what it made. */
export async function endRequest(id: string): Promise<void> {
  await api.deleteGeneration({ params: { id } });
  await Promise.all([invalidate('listGeneratedSubtitles'), changed()]);
}

/** The ids of an item and of one of its subtitle tracks. */
export interface TrackIds {
  id: string;
  streamId: string;
}

/** The timing is also in the streams of the item. A use of the day may be spent. */
async function timed(): Promise<void> {
  await Promise.all([invalidate('getSubtitleSync'), changed()]);
}

/** The timing that the server has now, for a run that may have ended. */
export async function readTiming(params: TrackIds): Promise<SubtitleSync> {
  const sync = await api.getSubtitleSync({ params });
  await timed();
  return sync;
}

/** Sets the timing of a track for everyone. */
export async function setTiming(params: TrackIds, body: SubtitleCorrection): Promise<void> {
  try {
    await api.setSubtitleTiming({ params, body });
  } finally {
    await timed();
  }
}

/** Fits a track to the soundtrack for everyone; a run that goes on is joined. */
export async function fitTiming(params: TrackIds): Promise<SyncResult> {
  try {
    return await api.autoFixSubtitleTiming({ params });
  } finally {
    await timed();
  }
}

/** Gives a track its own times again, and stops a run. */
export async function clearTiming(params: TrackIds): Promise<void> {
  await api.clearSubtitleTiming({ params });
  await timed();
}
