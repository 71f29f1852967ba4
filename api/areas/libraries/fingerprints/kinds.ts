export const fingerprintKinds = ['content', 'image', 'video', 'audio'] as const;
export type FingerprintKind = (typeof fingerprintKinds)[number];

export interface FingerprintSpec {
  algorithm: string;
  /** Rises when the algorithm changes: fingerprints of another version are made again. */
  version: number;
  libraryTypes?: readonly string[];
  /** SQL of the files that have such a fingerprint, of `media_files as m` and `items as i`. */
  applies: string;
}

const streamOf = (kind: string): string =>
  `exists (select from media_streams t where t.file_id = m.id and t.kind = '${kind}' and t.external_path is null
     and coalesce(t.probe ->> 'attachedPicture', 'false') = 'false')`;

export const fingerprints: Readonly<Record<FingerprintKind, FingerprintSpec>> = {
  content: { algorithm: 'sha256', version: 1, applies: 'true' },
  image: { algorithm: 'phash-32', version: 1, libraryTypes: ['photos'], applies: 'coalesce(m.duration_ms, 0) = 0' },
  video: {
    ...{ algorithm: 'phash-25-frames', version: 1, libraryTypes: ['movies', 'shows', 'videos', 'courses', 'photos'] },
    applies: `m.duration_ms > 0 and ${streamOf('video')}`,
  },
  audio: {
    ...{ algorithm: 'chromaprint-120', version: 1, libraryTypes: ['music'] },
    applies: `m.duration_ms > 0 and ${streamOf('audio')}`,
  },
};

/** The kinds that apply to a type of libraries. */
export const kindsFor = (libraryType: string): FingerprintKind[] =>
  fingerprintKinds.filter((kind) => fingerprints[kind].libraryTypes?.includes(libraryType) ?? true);

/** Greatest distance that is kept of pairs that are nearly alike. */
export const MOST_DISTANCE = 8;
