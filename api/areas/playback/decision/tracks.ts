import type { ProbedStream } from '#platform/media.ts';

/** A track of a file with the id it has in the API. */
export interface Track extends ProbedStream {
  id: string;
  /** A file beside the film, inside the same storage. */
  externalPath?: string | undefined;
}

export interface TrackOptions {
  audioStreamId?: string | undefined;
  /** null is none; undefined leaves it to the preferences. */
  subtitleStreamId?: string | null | undefined;
  /** What the profile chose last in the same show. */
  last?: { audioLanguage?: string | null; subtitleLanguage?: string | null; subtitleOff?: boolean } | undefined;
  audioLanguages: readonly string[];
  preferOriginalAudio: boolean;
  originalLanguage?: string | undefined;
  subtitleLanguages: readonly string[];
  subtitleMode: 'off' | 'forced' | 'foreign-audio' | 'always';
  hearingImpaired: 'prefer' | 'avoid' | 'any';
}

/** `en-GB` is English where `en` is asked for. */
function speaks(track: Track, language: string): boolean {
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

/** In order: the body, what this profile chose last in the show, preferences, the file's flags. */
export function chooseAudio(tracks: readonly Track[], wish: TrackOptions): Track | undefined {
  const audio = tracks.filter((track) => track.kind === 'audio');
  return (
    audio.find((track) => track.id === wish.audioStreamId) ??
    firstIn(audio, wish.last?.audioLanguage ? [wish.last.audioLanguage] : []) ??
    (wish.preferOriginalAudio ? originalAudio(audio, wish.originalLanguage) : undefined) ??
    firstIn(audio, wish.audioLanguages) ??
    defaultAudio(tracks)
  );
}

/** What the container marks as original, else what is spoken in the film's own language; nothing where neither is known. */
function originalAudio(audio: readonly Track[], language: string | undefined): Track | undefined {
  const marked = audio.filter((track) => track.original);
  const spoken = language === undefined ? [] : audio.filter((track) => speaks(track, language));
  return defaultAudio(marked.length > 0 ? marked : spoken);
}

/** Languages were asked for, and what plays is another one. */
export function lacksAudio(tracks: readonly Track[], wish: TrackOptions): boolean {
  if (wish.audioStreamId) return false;
  const chosen = chooseAudio(tracks, wish);
  const original = wish.preferOriginalAudio && wish.originalLanguage ? [wish.originalLanguage] : [];
  const asked = wish.last?.audioLanguage ? [wish.last.audioLanguage] : [...original, ...wish.audioLanguages];
  if (chosen === undefined || asked.length === 0 || (wish.preferOriginalAudio && chosen.original)) return false;
  return !asked.some((language) => speaks(chosen, language));
}

/** Subtitles were asked for, and there are none to show in any of the languages. */
export function lacksSubtitle(tracks: readonly Track[], wish: TrackOptions): boolean {
  if (wish.subtitleStreamId !== undefined || wish.last?.subtitleOff) return false;
  const audio = chooseAudio(tracks, wish);
  const asked = askedWords(audio, wish);
  const chosen = chooseSubtitle(tracks, audio, wish);
  if (!asked || !chosen) return asked !== undefined;
  return asked.length > 0 && !asked.some((language) => speaks(chosen, language));
}

/** Languages to read, of which empty is any; nothing where none are asked for. */
function askedWords(audio: Track | undefined, wish: TrackOptions): readonly string[] | undefined {
  if (wish.last?.subtitleLanguage) return [wish.last.subtitleLanguage];
  const any = wish.subtitleMode === 'always' || wish.subtitleLanguages.length > 0;
  return any && wantsWords(audio, wish) ? wish.subtitleLanguages : undefined;
}

/** Whole subtitles, not only forced lines. Who names no language to hear understands those to read. */
function wantsWords(audio: Track | undefined, { subtitleMode, ...wish }: TrackOptions): boolean {
  if (subtitleMode === 'always') return true;
  const known = wish.audioLanguages.length > 0 ? wish.audioLanguages : wish.subtitleLanguages;
  const understood = audio !== undefined && known.some((language) => speaks(audio, language));
  return subtitleMode === 'foreign-audio' && !understood;
}

export function chooseSubtitle(
  tracks: readonly Track[],
  audio: Track | undefined,
  wish: TrackOptions,
): Track | undefined {
  const all = tracks.filter((track) => track.kind === 'subtitle');
  if (wish.subtitleStreamId === null) return undefined;
  if (wish.subtitleStreamId !== undefined) return all.find((track) => track.id === wish.subtitleStreamId);
  if (wish.last?.subtitleOff) return undefined;
  const last = wish.last?.subtitleLanguage ? [wish.last.subtitleLanguage] : [];
  return firstIn(byTaste(all, wish), last) ?? byMode(all, audio, wish);
}

function byMode(all: readonly Track[], audio: Track | undefined, wish: TrackOptions): Track | undefined {
  const forced = forcedFor(all, audio);
  if (wish.subtitleMode === 'off') return undefined;
  if (wish.subtitleMode === 'forced') return forced;
  if (!wantsWords(audio, wish)) return forced;
  const full = byTaste(
    all.filter((track) => !track.forced),
    wish,
  );
  return firstIn(full, wish.subtitleLanguages) ?? full.find((track) => track.default) ?? forced;
}

/** Forced lines in the language that is spoken. */
function forcedFor(all: readonly Track[], audio: Track | undefined): Track | undefined {
  const spoken = audio?.language;
  return all.find((track) => track.forced && (spoken === undefined || speaks(track, spoken)));
}

function byTaste(all: readonly Track[], wish: TrackOptions): Track[] {
  const rank = (track: Track): number => {
    if (wish.hearingImpaired === 'any') return 0;
    return track.hearingImpaired === (wish.hearingImpaired === 'prefer') ? 0 : 1;
  };
  return [...all].sort((a, b) => rank(a) - rank(b));
}
