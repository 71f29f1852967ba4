import type { Call } from '#kernel/endpoint.ts';

/** A film and the subtitles that are wanted for it. */
export interface Wanted {
  type: string;
  title: string;
  year?: number;
  /** By provider: `imdb`, `tmdb`. */
  ids: Readonly<Record<string, string>>;
  /** Of an episode. */
  show?: { title: string; ids: Readonly<Record<string, string>> };
  season?: number;
  episode?: number;
  /** Name of the film's file without its ending. */
  release?: string;
  /** 64 bits as 16 hexadecimal digits. */
  movieHash?: string;
  frameRate?: number;
  /** BCP 47. */
  languages: readonly string[];
  hearingImpaired: Choice;
  forced: Choice;
  /** Another title in place of the item's identifiers. */
  query?: string;
}

export type Choice = 'include' | 'exclude' | 'only';

/** How a subtitle was recognised as one of the film, the surest first. */
export const matches = ['hash', 'id', 'episode', 'release', 'title'] as const;
export type MatchedBy = (typeof matches)[number];

/** A subtitle at a provider. */
export interface Found {
  /** The provider's own id of the file. */
  file: string;
  release: string;
  /** BCP 47. */
  language: string;
  format?: string | undefined;
  hearingImpaired: boolean;
  forced: boolean;
  translatedByMachine: boolean;
  matchedBy: MatchedBy;
  frameRate?: number | undefined;
  downloads?: number | undefined;
  /** 0 to 10. */
  rating?: number | undefined;
  uploader?: string | undefined;
  uploadedAt?: string | undefined;
}

/** The bytes of a file as the provider has them; `entry` is the name inside an archive. */
export interface ForeignFile {
  bytes: Uint8Array;
  entry?: string;
}

export type FaultReason = 'timeout' | 'refused' | 'quota' | 'error';

/** A provider gave no answer. */
export class ProviderFault extends Error {
  readonly reason: FaultReason;
  /** Earliest time at which another request makes sense. */
  readonly retryAfterSec: number | undefined;
  constructor(reason: FaultReason, message: string, retryAfterSec?: number) {
    super(message);
    this.reason = reason;
    this.retryAfterSec = retryAfterSec;
  }
}

/** What a request to a provider has at hand. */
export interface Means {
  deps: Call['deps'];
  signal: AbortSignal;
}

/** One source of subtitles. */
export interface Provider {
  id: string;
  name: string;
  kind: 'opensubtitles' | 'plugin' | 'folder';
  /** Whether settings and keys allow requests. Reads the server's own stores only. */
  isConfigured: (deps: Call['deps']) => Promise<boolean>;
  /** The circuits that must be closed for a search; default: the one of its id. */
  circuits?: (deps: Call['deps']) => Promise<string[]>;
  /** Subtitles for a film. Throws `ProviderFault`. */
  search: (means: Means, wanted: Wanted) => Promise<Found[]>;
  /** A file of `search`. Throws `ProviderFault`. */
  download: (means: Means, file: string) => Promise<ForeignFile>;
}
