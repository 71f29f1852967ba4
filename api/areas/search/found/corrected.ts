import { mistakes } from '../question/lexemes.ts';
import type { SearchHit } from '../search.schemas.ts';
import { fold } from './marks.ts';

const MOST_MISTAKES = 2;

/** The question with its mistaken words as the best hit spells them; undefined when they are not alike. */
export function correctedBy(q: string, hit: SearchHit | undefined): string | undefined {
  if (!hit) return undefined;
  const names = [hit.title, hit.item?.originalTitle ?? '', ...(hit.highlight ?? []).map(({ text }) => text)];
  const known = names.flatMap((name) => name.match(WORD) ?? []).map((word) => ({ word, folded: fold(word) }));
  let changed = false;
  const corrected = q.replace(WORD, (word) => {
    const folded = fold(word);
    if (folded.length < 4 || known.some((one) => one.folded === folded)) return word;
    const near = known
      .map((one) => ({ ...one, off: mistakes(folded, one.folded, MOST_MISTAKES) }))
      .filter(({ off }) => off <= MOST_MISTAKES)
      .sort((a, b) => a.off - b.off)[0];
    if (!near) return word;
    changed = true;
    return near.word.toLowerCase();
  });
  return changed ? corrected : undefined;
}

const WORD = /[\p{L}\p{N}\p{M}'’]+/gu;
