import type { Nfo } from '../names/nfo.ts';
import type { Sidecar } from '../names/sidecars.ts';
import type { WalkedFile } from '../walk/types.ts';

/** Which item a draft speaks of: unique in its library. */
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

/** Pictures found beside it, by kind. */
export type LocalArtwork = Record<string, { path: string; mtimeMs: number }>;

/** An item as names and local files tell it, before the database is asked. */
export interface Draft extends ItemKey {
  parent?: ItemKey;
  grandparent?: ItemKey;
  top: boolean;
  title: string;
  year?: number;
  releasedOn?: string;
  index?: number;
  indexEnd?: number;
  parentIndex?: number;
  ids: Record<string, string>;
  nfo?: Nfo;
  artwork: LocalArtwork;
  files: DraftFile[];
  /** Changes an item that is there and makes none. */
  onlyKnown?: true;
  /** The only film of its folder: what the folder holds for no file in particular is its own. */
  alone?: true;
  /** It is an extra of another item, or of whatever film lies in a directory. */
  extra?: { kind: string; of: ItemKey | { directory: string } };
}

/** A directory as the grouping sees it. */
export interface Grouping {
  /** Inside the storage. */
  directory: string;
  /** The names from the library's folder to it. */
  within: readonly string[];
  /** Everything that was listed in it. */
  files: readonly WalkedFile[];
  library: { type: string; mergeVersions: boolean };
}

export interface Grouped {
  drafts: Draft[];
  /** Videos whose name tells no place. */
  unrecognised: string[];
}

/** Yields items and, where it can pause, nothing; returns the videos whose name tells no place. */
export type Drafting = Generator<Draft | undefined, string[]>;
