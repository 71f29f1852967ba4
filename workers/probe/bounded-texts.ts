import type { ProbedChapter, ProbedFile, ProbedStream } from '#platform/media.ts';

const MOST_TAGS = 200;
const MOST_TAG = 8000;
const MOST_CHAPTERS = 2000;
/** Limit of a title, file name or language, as shown in lists. */
const MOST_LINE = 500;

/** Truncates texts of a foreign file, which may have any length. */
export function withBoundedTexts(file: ProbedFile): ProbedFile {
  const tags = Object.entries(file.tags).slice(0, MOST_TAGS);
  return {
    ...file,
    streams: file.streams.map(withShortLines),
    chapters: file.chapters.slice(0, MOST_CHAPTERS).map(withShortLines),
    tags: Object.fromEntries(tags.map(([key, value]) => [key.slice(0, MOST_LINE), value.slice(0, MOST_TAG)])),
  };
}

function withShortLines<T extends ProbedStream | ProbedChapter>(part: T): T {
  const members = Object.entries(part).map(([key, value]: [string, unknown]) => [
    key,
    typeof value === 'string' ? value.slice(0, MOST_LINE) : value,
  ]);
  return Object.fromEntries(members) as T;
}
