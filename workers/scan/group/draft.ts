import type { ProbedFile } from '#platform/media.ts';
import type { Nfo } from '../names/nfo.ts';
import type { Sidecar } from '../names/sidecars.ts';
import type { OwnRules } from '../own/rules.ts';
import type { WalkedFile } from '../walk/types.ts';

/** Identifies the item of a draft: unique in its library. */
export interface ItemKey {
  type: string;
  key: string;
}

/** A sidecar that is a track of a file. */
export interface ExternalTrack extends Sidecar {
  /** Inside the storage. */
  path: string;
  size: number;
  mtimeMs: number;
}

export interface DraftFile {
  /** Inside the storage. */
  path: string;
  walked: WalkedFile;
  edition?: string;
  rank: number;
  part?: number;
  parts?: number;
  tracks: ExternalTrack[];
}

/** Pictures found next to it, by kind. */
export type LocalArtwork = Record<string, { path: string; mtimeMs: number }>;

/** An item according to names and local files, before the database is read. */
export interface Draft extends ItemKey {
  parent?: ItemKey;
  grandparent?: ItemKey;
  top: boolean;
  title: string;
  year?: number;
  releasedOn?: string;
  /** ISO 8601, of photos and of videos among them. */
  takenAt?: string;
  index?: number;
  indexEnd?: number;
  parentIndex?: number;
  ids: Record<string, string>;
  nfo?: Nfo;
  /** Values of custom fields by key, for an item that is new. */
  custom?: Record<string, string | number>;
  /** Members of `items.details`. */
  details?: Record<string, unknown>;
  artwork: LocalArtwork;
  files: DraftFile[];
  /** Changes an existing item and never creates one. */
  onlyKnown?: true;
  /** The only film of its folder, so that general files of the folder belong to it. */
  alone?: true;
  /** An extra of another item, or of whatever film is in a directory. */
  extra?: { kind: string; of: ItemKey | { directory: string } };
}

/** A directory as input of the grouping. */
export interface Grouping {
  /** Inside the storage. */
  directory: string;
  /** Names of the folders from the library's folder down to it. */
  within: readonly string[];
  /** Everything that was listed in it. */
  files: readonly WalkedFile[];
  library: { type: string; mergeVersions: boolean; own?: OwnRules | undefined };
  /** IANA name of the server's time zone. */
  timeZone?: string;
  /** What its media contain, by name; for types that are grouped by it. */
  inside?: ReadonlyMap<string, ProbedFile>;
}

export interface Grouped {
  drafts: Draft[];
  /** Videos whose names contain no place in the library. */
  unrecognised: string[];
}

/** Yields items, and undefined where it can pause; returns the videos whose names contain no place in the library. */
export type Drafting = Generator<Draft | undefined, string[]>;
