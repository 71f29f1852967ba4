import { catalogueKeys } from '#platform/catalogue-keys.ts';
import type { LibrarySettings } from './libraries.schemas.ts';

/** In order; an agent whose key is missing is left out. */
const VIDEO_AGENTS = ['nfo', 'files', 'spine', 'tmdb', 'tvdb', 'wikidata', 'omdb', 'fanart'];

const agentsOf: Record<string, string[]> = {
  movies: VIDEO_AGENTS,
  shows: VIDEO_AGENTS,
  videos: ['nfo', 'files'],
  music: ['files', 'musicbrainz', 'coverartarchive', 'spine', 'fanart'],
  photos: ['files'],
  books: ['files', 'openlibrary', 'spine'],
  comics: ['files', 'comicvine', 'anilist'],
  games: ['files', 'igdb'],
  courses: ['files'],
  livetv: ['files'],
};

/** Agents that need a key. */
const KEYED = new Set(Object.values(catalogueKeys).map(({ agent }): string => agent));

/** The agents of a new library; those that need a key only with their key. */
export const agentsByDefault = (type: string, hasKey: (agent: string) => boolean = () => false): string[] =>
  (agentsOf[type] ?? ['files']).filter((id) => !KEYED.has(id) || hasKey(id));

/** Initial settings of a library of this type, with the language and country of the server. */
export function defaultSettings(type: string, place: { language: string; country: string | null }): LibrarySettings {
  const folderView = type === 'photos' || type === 'videos';
  const film = ['movies', 'shows', 'videos', 'courses'].includes(type);
  return {
    previewThumbnails: film,
    introDetection: type === 'shows',
    creditsDetection: type === 'movies' || type === 'shows',
    voiceActivity: film,
    agents: agentsByDefault(type),
    ...place,
    watch: 'auto',
    pollMinutes: 15,
    scanCron: '0 4 * * *',
    trashGraceHours: 24,
    trashKeepDays: 30,
    guardPercent: 20,
    guardMinimum: 20,
    preferLocal: true,
    saveNfo: false,
    saveArtwork: false,
    fileDeletion: false,
    folderView,
    shareLocation: true,
    searchTranscripts: true,
    ignore: [],
    mergeVersions: true,
    showMissingEpisodes: false,
    onHome: true,
    ageLimit: null,
  };
}

/** Stored settings hold only chosen values, so a new default applies to existing libraries. */
export function settingsOf(
  library: { type: string; settings: Partial<LibrarySettings> },
  place: { language: string; country: string | null },
): LibrarySettings {
  return { ...defaultSettings(library.type, place), ...library.settings };
}
