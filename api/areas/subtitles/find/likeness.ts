const MOST_WORDS = 60;
/** Words that say nothing about which cut of a film a subtitle fits. */
const EMPTY = new Set(['the', 'a', 'an', 'mkv', 'mp4', 'avi', 'srt', 'sub', 'subs', 'eng', 'english']);

const wordsOf = (name: string): Set<string> =>
  new Set(
    name
      .toLowerCase()
      .slice(0, 500)
      .split(/[^\p{L}\p{N}]+/u)
      .filter((word) => word !== '' && !EMPTY.has(word))
      .slice(0, MOST_WORDS),
  );

/** How alike two release names are, 0 to 1: the words that both have, as a share of those that either has. */
export function likeness(a: string, b: string): number {
  const [first, second] = [wordsOf(a), wordsOf(b)];
  const both = [...first].filter((word) => second.has(word)).length;
  const either = first.size + second.size - both;
  return either === 0 ? 0 : both / either;
}
