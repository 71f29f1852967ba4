import type { LibrarySettings } from './libraries.schemas.ts';

const VIDEO_AGENTS = ['nfo', 'files', 'spine', 'wikidata'];

/** Only agents that need no key. */
const agentsOf: Record<string, string[]> = {
  movies: VIDEO_AGENTS,
  shows: VIDEO_AGENTS,
  videos: ['nfo', 'files'],
  music: ['files', 'musicbrainz', 'coverartarchive', 'spine'],
  photos: ['files'],
  books: ['files', 'openlibrary', 'spine'],
  comics: ['files', 'anilist'],
  games: ['files'],
  courses: ['files'],
  livetv: ['files'],
};

/** Initial settings of a library of this type, with the language and country of the server. */
export function defaultSettings(type: string, place: { language: string; country: string | null }): LibrarySettings {
  const folderView = type === 'photos' || type === 'videos';
  const film = ['movies', 'shows', 'videos', 'courses'].includes(type);
  return {
    previewThumbnails: film,
    introDetection: type === 'shows',
    creditsDetection: type === 'movies' || type === 'shows',
    voiceActivity: film,
    agents: agentsOf[type] ?? ['files'],
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
