import { type Db, named } from '#platform/db.ts';
import { groupOf, joinedGroups, lexemesOf, quoted, VARIED, variants, type Word } from './lexemes.ts';
import type { Question } from './parse-question.ts';

/** A question as it is sent to Postgres: every text is a bound value. */
export interface Terms {
  /** Words of the question, folded; empty when it has conditions only. */
  tokens: readonly string[];
  /** The words as titles are compared, without articles. */
  bare: string;
  /** `tsquery` of the words in titles, and in all parts; empty without words. */
  query: string;
  /** `tsquery` of any of the words with the weight A. */
  some: string;
  /** `tsquery` of excluded words; empty without any. */
  excluded: string;
  /** `tsquery` of titles with one mistake in some words; empty where likeness is not tried. */
  near: string;
  open: boolean;
}

interface Part {
  tokens: string[];
  bare: string;
  stems: (string | null)[];
  optional: boolean[];
}

const READ = `
  select t.tokens, foyer_search_bare(t.tokens) as bare,
    array(select word = any(foyer_search_optional()) from unnest(t.tokens) with ordinality as w(word, place) order by place) as optional,
    array(select (select string_agg(distinct l.lexeme, ' ') from unnest($2::text[]) as language,
        unnest(to_tsvector(foyer_search_config(language), w.word)) as l where foyer_search_config(language) is not null)
      from unnest(t.tokens) with ordinality as w(word, place) order by place) as stems
  from unnest($1::text[]) with ordinality as part(text, number)
    cross join lateral (select (foyer_search_tokens(part.text, false))[1:12] as tokens) t
  order by part.number`;

/** Folds the words of a question as the documents were folded, and adds the stems of these languages. */
export async function readTerms(
  db: Db,
  question: Question,
  options: { languages: readonly string[]; exact?: boolean },
): Promise<Terms> {
  const texts = [question.words, ...question.phrases, ...question.excluded];
  const parts = await named<Part>(db, {
    name: 'search-terms',
    text: READ,
    values: [texts, [...new Set(options.languages.map((language) => language.split('-')[0] ?? ''))]],
    short: true,
  });
  const [words, ...others] = parts;
  const phrases = others.slice(0, question.phrases.length);
  const excluded = others.slice(question.phrases.length);
  const open = question.open && !options.exact;
  const needed = words ? wanted(words, open) : [];
  const exactly = phrases.map(({ tokens }) => tokens.map(quoted).join(' <-> ')).filter(Boolean);
  const tokens = [...(words?.tokens ?? []), ...phrases.flatMap((phrase) => phrase.tokens)].filter(Boolean);
  return {
    tokens,
    bare: [words?.bare, ...phrases.map(({ bare }) => bare)].filter(Boolean).join(' '),
    query: allOf([joinedGroups(needed), ...exactly]),
    some: [...needed.flatMap(lexemesOf), ...phrases.flatMap((phrase) => phrase.tokens.map(quoted))]
      .map((lexeme) => `${lexeme}${lexeme.endsWith(':*') ? 'A' : ':A'}`)
      .join(' | '),
    excluded: excluded
      .map(({ tokens: not }) => not.map(quoted).join(' <-> '))
      .filter(Boolean)
      .join(' | '),
    near: options.exact ? '' : nearOf(needed, exactly),
    open,
  };
}

/** The words that must be found. Articles and conjunctions may be left out, except when the question has nothing else. */
function wanted({ tokens, stems, optional }: Part, open: boolean): Word[] {
  const words = tokens.flatMap((token, i): (Word & { optional: boolean })[] => {
    const prefix = open && i === tokens.length - 1;
    if (!token) return [];
    return [{ token, stems: stems[i]?.split(' ') ?? [], prefix, optional: optional[i] === true && !prefix }];
  });
  const needed = words.filter((word) => !word.optional);
  return needed.length > 0 ? needed : words;
}

const allOf = (parts: readonly string[]): string =>
  parts
    .filter(Boolean)
    .map((part) => `(${part})`)
    .join(' & ');

function nearOf(words: readonly Word[], phrases: readonly string[]): string {
  if (words.every(({ token }) => token.length < VARIED)) return '';
  return allOf([...words.map((word) => [groupOf(word), ...variants(word.token).map(quoted)].join(' | ')), ...phrases]);
}
