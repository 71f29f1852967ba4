import type { ProbedStream } from '#platform/media.ts';

/** A track of a file with the id it has in the API. */
export interface Track extends ProbedStream {
  id: string;
  /** A file beside the film, inside the same storage. */
  externalPath?: string | undefined;
}

export interface TrackWish {
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
export function chooseAudio(tracks: readonly Track[], wish: TrackWish): Track | undefined {
  const audio = tracks.filter((track) => track.kind === 'audio');
  const original = wish.preferOriginalAudio && wish.originalLanguage ? [wish.originalLanguage] : [];
  return (
    audio.find((track) => track.id === wish.audioStreamId) ??
    firstIn(audio, wish.last?.audioLanguage ? [wish.last.audioLanguage] : []) ??
    firstIn(audio, [...original, ...wish.audioLanguages]) ??
    defaultAudio(tracks)
  );
}

export function chooseSubtitle(tracks: readonly Track[], audio: Track | undefined, wish: TrackWish): Track | undefined {
  const all = tracks.filter((track) => track.kind === 'subtitle');
  if (wish.subtitleStreamId === null) return undefined;
  if (wish.subtitleStreamId !== undefined) return all.find((track) => track.id === wish.subtitleStreamId);
  if (wish.last?.subtitleOff) return undefined;
  const last = wish.last?.subtitleLanguage;
  if (last) return firstIn(byTaste(all, wish), [last]);
  return byMode(all, audio, wish);
}

function byMode(all: readonly Track[], audio: Track | undefined, wish: TrackWish): Track | undefined {
  const forced = forcedFor(all, audio);
  if (wish.subtitleMode === 'off') return undefined;
  if (wish.subtitleMode === 'forced') return forced;
  const understood = audio !== undefined && wish.audioLanguages.some((language) => speaks(audio, language));
  if (wish.subtitleMode === 'foreign-audio' && understood) return forced;
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

function byTaste(all: readonly Track[], wish: TrackWish): Track[] {
  const rank = (track: Track): number => {
    if (wish.hearingImpaired === 'any') return 0;
    return track.hearingImpaired === (wish.hearingImpaired === 'prefer') ? 0 : 1;
  };
  return [...all].sort((a, b) => rank(a) - rank(b));
}
