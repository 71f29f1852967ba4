import type { SettingKey } from '#platform/settings.ts';

export const analysisNames = ['previewThumbnails', 'introDetection', 'creditsDetection', 'voiceActivity'] as const;
export type AnalysisName = (typeof analysisNames)[number];

export interface Analysis {
  /** The switch of the server; that of the library has the name of the analysis. */
  setting: SettingKey;
  /** Types of libraries whose files it can read. */
  libraryTypes: readonly string[];
  /** Types of items that it reads; absent for all. Extras count only then. */
  itemTypes?: readonly string[];
  /** Kind of the streams that a file must have. */
  stream: 'video' | 'audio';
}

const FILM = ['movies', 'shows', 'videos', 'courses'];

export const analyses: Readonly<Record<AnalysisName, Analysis>> = {
  previewThumbnails: { setting: 'analysis.preview_thumbnails', libraryTypes: FILM, stream: 'video' },
  introDetection: {
    ...{ setting: 'analysis.intro_detection', libraryTypes: ['shows'], itemTypes: ['episode'], stream: 'audio' },
  },
  creditsDetection: {
    setting: 'analysis.credits_detection',
    libraryTypes: ['movies', 'shows'],
    itemTypes: ['movie', 'episode'],
    stream: 'video',
  },
  voiceActivity: { setting: 'analysis.voice_activity', libraryTypes: FILM, stream: 'audio' },
};

/** The markers that an analysis writes: a person's lock of a file's markers stops it there. */
export const marking: readonly AnalysisName[] = ['introDetection', 'creditsDetection'];
