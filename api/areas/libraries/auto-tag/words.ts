// Known names in the names of folders and files: one pass over the words, whatever the number of names.

/** Without case and accents. */
export const folded = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

interface Word {
  text: string;
  start: number;
  end: number;
}

/** Runs of letters and digits, folded, with their places. */
function wordsOf(text: string): Word[] {
  return [...text.matchAll(/[\p{L}\p{N}\p{M}]+/gu)].map((match) => ({
    ...{ text: folded(match[0]), start: match.index, end: match.index + match[0].length },
  }));
}

interface Node<V> {
  next: Map<string, Node<V>>;
  values: V[];
}

/** Words of the longest name that is kept. */
const MOST_WORDS = 20;

export interface Match<V> {
  values: readonly V[];
  /** As the text has it. */
  matched: string;
}

/** An automaton over whole words. Of names that begin at the same word the longest counts, and words are used once. */
export class Names<V> {
  readonly #root: Node<V> = { next: new Map(), values: [] };

  add(name: string, value: V): void {
    const words = wordsOf(name);
    if (words.length === 0 || words.length > MOST_WORDS) return;
    let node = this.#root;
    for (const { text } of words) {
      const next = node.next.get(text) ?? { next: new Map(), values: [] };
      node.next.set(text, next);
      node = next;
    }
    node.values.push(value);
  }

  *in(text: string): Generator<Match<V>> {
    const words = wordsOf(text);
    for (let at = 0; at < words.length; ) {
      const found = this.#longest(words, at);
      if (found) {
        const [first, last] = [words[at] as Word, words[found.to - 1] as Word];
        yield { values: found.values, matched: text.slice(first.start, last.end) };
      }
      at = found?.to ?? at + 1;
    }
  }

  #longest(words: readonly Word[], from: number): { values: readonly V[]; to: number } | undefined {
    let best: { values: readonly V[]; to: number } | undefined;
    let node: Node<V> | undefined = this.#root;
    for (let at = from; at < words.length && node; at += 1) {
      node = node.next.get(words[at]?.text ?? '');
      if (node && node.values.length > 0) best = { values: node.values, to: at + 1 };
    }
    return best;
  }
}
