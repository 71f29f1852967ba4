import type { ProbedStream } from '#platform/media.ts';

/** A track of a file with its API id. */
export interface Track extends ProbedStream {
  id: string;
  /** A sidecar file in the same storage. */
  externalPath?: string | undefined;
  /** The server keeps its text. */
  kept?: boolean | undefined;
}

export interface TrackOptions {
  audioStreamId?: string | undefined;
  /** null is none; undefined uses the preferences. */
  subtitleStreamId?: string | null | undefined;
  /** The last choice of the profile in the same show. */
  last?: { audioLanguage?: string | null; subtitleLanguage?: string | null; subtitleOff?: boolean } | undefined;
  audioLanguages: readonly string[];
  preferOriginalAudio: boolean;
  originalLanguage?: string | undefined;
  subtitleLanguages: readonly string[];
  subtitleMode: 'off' | 'forced' | 'foreign-audio' | 'always';
  hearingImpaired: 'prefer' | 'avoid' | 'any';
}

/** `en-GB` matches `en`. */
export function speaks(track: Track, language: string): boolean {
  const own = (track.language ?? '').toLowerCase();
  const wanted = language.toLowerCase();
  return own === wanted || own.split('-')[0] === wanted.split('-')[0];
}

function firstIn(tracks: readonly Track[], languages: readonly string[]): Track | undefined {
  for (const language of languages) {
    const found = tracks.find((track) => speaks(track, language));
    if (found) return found;
  }
  return undefined;
}

export function defaultAudio(tracks: readonly Track[]): Track | undefined {
  const audio = tracks.filter((track) => track.kind === 'audio');
  return audio.find((track) => track.default) ?? audio[0];
}

/** By the request, the last choice in the show, the preferences and the file's flags, in this order. */
export function chooseAudio(tracks: readonly Track[], options: TrackOptions): Track | undefined {
  const audio = tracks.filter((track) => track.kind === 'audio');
  return (
    audio.find((track) => track.id === options.audioStreamId) ??
    firstIn(audio, options.last?.audioLanguage ? [options.last.audioLanguage] : []) ??
    (options.preferOriginalAudio ? originalAudio(audio, options.originalLanguage) : undefined) ??
    firstIn(audio, options.audioLanguages) ??
    defaultAudio(tracks)
  );
}

/** The track marked as original, else one in the original language of the film, else undefined. */
function originalAudio(audio: readonly Track[], language: string | undefined): Track | undefined {
  const marked = audio.filter((track) => track.original);
  const spoken = language === undefined ? [] : audio.filter((track) => speaks(track, language));
  return defaultAudio(marked.length > 0 ? marked : spoken);
}

/** True when languages are requested and the chosen track has none of them. */
export function lacksAudio(tracks: readonly Track[], options: TrackOptions): boolean {
  if (options.audioStreamId) return false;
  const chosen = chooseAudio(tracks, options);
  const original = options.preferOriginalAudio && options.originalLanguage ? [options.originalLanguage] : [];
  const requested = options.last?.audioLanguage
    ? [options.last.audioLanguage]
    : [...original, ...options.audioLanguages];
  if (chosen === undefined || requested.length === 0 || (options.preferOriginalAudio && chosen.original)) return false;
  return !requested.some((language) => speaks(chosen, language));
}

/** True when subtitles are requested and none exists in a requested language. */
export function lacksSubtitle(tracks: readonly Track[], options: TrackOptions): boolean {
  if (options.subtitleStreamId !== undefined || options.last?.subtitleOff) return false;
  const audio = chooseAudio(tracks, options);
  const requested = requestedText(audio, options);
  const chosen = chooseSubtitle(tracks, audio, options);
  if (!requested || !chosen) return requested !== undefined;
  return requested.length > 0 && !requested.some((language) => speaks(chosen, language));
}

/** Requested subtitle languages; empty is any language, undefined is no request. */
function requestedText(audio: Track | undefined, options: TrackOptions): readonly string[] | undefined {
  if (options.last?.subtitleLanguage) return [options.last.subtitleLanguage];
  const any = options.subtitleMode === 'always' || options.subtitleLanguages.length > 0;
  return any && wantsText(audio, options) ? options.subtitleLanguages : undefined;
}

/**
 * True for full subtitles, not only forced lines. Without audio languages, the subtitle languages count as understood.
 */
function wantsText(audio: Track | undefined, { subtitleMode, ...options }: TrackOptions): boolean {
  if (subtitleMode === 'always') return true;
  const known = options.audioLanguages.length > 0 ? options.audioLanguages : options.subtitleLanguages;
  const understood = audio !== undefined && known.some((language) => speaks(audio, language));
  return subtitleMode === 'foreign-audio' && !understood;
}

export function chooseSubtitle(
  tracks: readonly Track[],
  audio: Track | undefined,
  options: TrackOptions,
): Track | undefined {
  const all = tracks.filter((track) => track.kind === 'subtitle');
  if (options.subtitleStreamId === null) return undefined;
  if (options.subtitleStreamId !== undefined) return all.find((track) => track.id === options.subtitleStreamId);
  if (options.last?.subtitleOff) return undefined;
  const last = options.last?.subtitleLanguage ? [options.last.subtitleLanguage] : [];
  return firstIn(byPreference(all, options), last) ?? byMode(all, audio, options);
}

function byMode(all: readonly Track[], audio: Track | undefined, options: TrackOptions): Track | undefined {
  const forced = forcedFor(all, audio);
  if (options.subtitleMode === 'off') return undefined;
  if (options.subtitleMode === 'forced') return forced;
  if (!wantsText(audio, options)) return forced;
  const full = byPreference(
    all.filter((track) => !track.forced),
    options,
  );
  return firstIn(full, options.subtitleLanguages) ?? full.find((track) => track.default) ?? forced;
}

/** Forced lines in the language of the audio. */
function forcedFor(all: readonly Track[], audio: Track | undefined): Track | undefined {
  const spoken = audio?.language;
  return all.find((track) => track.forced && (spoken === undefined || speaks(track, spoken)));
}

function byPreference(all: readonly Track[], options: TrackOptions): Track[] {
  const rank = (track: Track): number => {
    if (options.hearingImpaired === 'any') return 0;
    return track.hearingImpaired === (options.hearingImpaired === 'prefer') ? 0 : 1;
  };
  return [...all].sort((a, b) => rank(a) - rank(b));
}
