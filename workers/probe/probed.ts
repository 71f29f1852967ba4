import type { KeyframeIndex, ProbedFile } from '#platform/media.ts';

/** Incremented when a probe of the same file may give another result; files with an older version are probed again. */
export const PROBE_VERSION = 2;

/** A range of bytes in a file. */
export interface Stretch {
  at: number;
  size: number;
}

/** The file at a path. */
export interface Seen {
  size: number;
  mtimeMs: number;
  isLink: boolean;
}

/** Result of a probe. */
export interface Probed {
  file: ProbedFile;
  /** Absent if the container has no index of them: job `media.keyframes` then reads the packets. */
  keyframes?: KeyframeIndex;
  /** The container is longer than the file: a truncated download. */
  truncated?: true;
  /**
   * Encoded video and audio contain no long runs of zeros, but this file does: space was allocated and never filled.
   */
  hollow?: true;
  /** What lay at its path when it had been read, if the reader looked. */
  after?: Seen;
}

const OF_THE_TOOL = new Set(['major_brand', 'minor_version', 'compatible_brands', 'encoder', 'creation_time']);

const MAX_TAGS = 200;
const MAX_KEY = 200;
const MAX_VALUE = 20_000;

/** The tags about the film, not about the tool that wrote the file; keys in lower case. */
export function contentTags(tags: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(tags).map(([key, value]) => [key.toLowerCase(), value.slice(0, MAX_VALUE)] as const);
  return Object.fromEntries(
    entries.filter(([key]) => key.length <= MAX_KEY && !OF_THE_TOOL.has(key)).slice(0, MAX_TAGS),
  );
}
