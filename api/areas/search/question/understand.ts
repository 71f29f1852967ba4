import { knowCustomFields, type LibraryRow, listVisibleLibraries, rulesFor } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import type { Rules } from '#kernel/filter.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import { parseQuestion, type Question, withoutFilters } from './parse-question.ts';
import { readTerms, type Terms } from './terms.ts';

/** Questions of a person in a second. */
const MOST_A_SECOND = 20;

/** Counts a question of the caller. Throws 429. */
export async function countQuestion({ deps, who }: Call): Promise<void> {
  const limiter = { redis: deps.redis, replicas: deps.config.replicas, windowMs: 1000 };
  await limitAttempts(limiter, `search:${who.accountId}`, MOST_A_SECOND);
}

/** A question as the server understood it. */
export interface Understood {
  terms: Terms;
  /** Conditions of the question and of the filter. */
  rules: Rules;
  /** Visible libraries to search. */
  libraries: readonly LibraryRow[];
}

interface Searching {
  q: string;
  libraryId?: string | undefined;
  filter?: string | undefined;
  exact?: boolean | undefined;
}

/** Reads the parts of a question. A condition on an unknown field is taken as words. Throws 400 for a wrong `filter`. */
export async function understand(call: Call, { q, libraryId, filter, exact = false }: Searching): Promise<Understood> {
  const parsed = parseQuestion(q);
  const [libraries] = await Promise.all([
    visibleLibraries(call, libraryId),
    knowCustomFields(call, { texts: [filter, parsed.filters.join(';')] }),
  ]);
  const given = rulesFor(call, [], filter);
  const { question, rules } = conditionsOf(call, parsed);
  const terms = await readTerms(call.db, question, { languages: languagesOf(call, libraries), exact });
  return { terms, rules: { all: [given, rules] }, libraries };
}

/** All libraries that the caller may see, or the one; none when that is hidden. */
export const visibleLibraries = ({ db, who }: Call, libraryId: string | undefined): Promise<LibraryRow[]> =>
  listVisibleLibraries(db, who, libraryId === undefined ? undefined : [libraryId]);

/** Languages in which these libraries are described. */
export function languagesOf({ deps }: Call, libraries: readonly LibraryRow[]): string[] {
  const usual = deps.settings.get('metadata.language') ?? deps.settings.get('server.language');
  return [...new Set(libraries.map(({ settings: { language } }) => (typeof language === 'string' ? language : usual)))];
}

function conditionsOf(call: Call, question: Question): { question: Question; rules: Rules } {
  try {
    return { question, rules: rulesFor(call, [], question.filters.join(';')) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { question: withoutFilters(question), rules: { all: [] } };
  }
}
