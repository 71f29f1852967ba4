/** What the main thread asks of the walking thread, and what it gets. Paths are inside the storage, without a slash at either end. */

export interface KnownDirectory {
  modifiedMs: number;
  /** Videos in it, and those of them that are no media. */
  videos: number;
  faults: number;
  content: string;
}

export interface WalkOrder {
  /** Absolute path of the storage's root. */
  root: string;
  /** The library's folder: nothing outside it is opened. */
  folder: string;
  /** Real paths of all folders of the library: links lead to them or nowhere. The folder's own, when absent. */
  tops?: string[];
  /** Where to begin, `folder` or below. */
  from: string[];
  /** Globs of the library's settings. */
  ignore: string[];
  /** What was last seen, by path: a directory with the same content is not handed over. Absent hands over all. */
  known?: Map<string, KnownDirectory>;
  /** Names of the directories that are remembered in each path, where nobody listed that path since, too. One that is not there is handed over with its parent. */
  expected?: ReadonlyMap<string, ReadonlySet<string>>;
  /** A known directory whose time is the same is not even listed. */
  quick?: boolean;
  /** Only these directories, not what lies below. */
  shallow?: boolean;
  /** Of what reads the files: another one makes all content another. */
  version: string;
}

export interface WalkedFile {
  name: string;
  size: number;
  mtimeMs: number;
  inode: string;
}

export interface WalkIssue {
  kind: 'unreadable' | 'bad-encoding' | 'name-conflict' | 'link-outside' | 'too-long-path';
  path: string;
  detail?: string;
}

export interface WalkedDirectory {
  path: string;
  /** `listed`; `same` when its content is the known one and only its time another; `gone` when it vanished meanwhile; `failed` when nothing can be said of it. */
  state: 'listed' | 'same' | 'gone' | 'failed';
  modifiedMs: number;
  /** Names of the directories in it that are walked too. */
  directories: string[];
  files: WalkedFile[];
  videos: number;
  /** Of the sidecars. */
  signature: string;
  /** Of all that was listed. */
  content: string;
  ignored: number;
  issues: WalkIssue[];
}

/** Directories that are as they were, summed up. */
export interface Same {
  directories: number;
  /** Those of them that were not even listed. */
  passed: number;
  videos: number;
  faults: number;
}

export interface WalkBatch {
  directories: WalkedDirectory[];
  same: Same;
  done: boolean;
  /** Device and inode of the root and the folder at this moment: another file system under the same path shows. */
  identity: string;
}
