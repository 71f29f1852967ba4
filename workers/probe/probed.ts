import type { KeyframeIndex, ProbedFile } from '#platform/media.ts';

/** Grows when a probe of the same file may answer otherwise; files probed by an older one are probed again. */
export const PROBE_VERSION = 2;

/** Bytes of a file. */
export interface Stretch {
  at: number;
  size: number;
}

/** What a probe gives. */
export interface Probed {
  file: ProbedFile;
  /** Absent when the container has no index of them: job `media.keyframes` reads the packets then. */
  keyframes?: KeyframeIndex;
  /** The container says that it is longer than the file is: a cut download. */
  truncated?: true;
  /** Coded picture and sound have no long runs of zeros, and this file has: the space was set aside and never filled. */
  hollow?: true;
}

const OF_THE_TOOL = new Set(['major_brand', 'minor_version', 'compatible_brands', 'encoder', 'creation_time']);

const MAX_TAGS = 200;
const MAX_KEY = 200;
const MAX_VALUE = 20_000;

/** The tags that tell of the film, not of the tool that wrote the file; keys in lower case. */
export function contentTags(tags: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(tags).map(([key, value]) => [key.toLowerCase(), value.slice(0, MAX_VALUE)] as const);
  return Object.fromEntries(
    entries.filter(([key]) => key.length <= MAX_KEY && !OF_THE_TOOL.has(key)).slice(0, MAX_TAGS),
  );
}
