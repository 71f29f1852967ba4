// Answers of providers to searches: an hour old they count as present, and for 30 days where a provider fails.
import type { ListedTitle } from '#platform/agents/listed-title.ts';
import type { Db } from '#platform/db.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'discover_searches.found': ListedTitle[];
  }
}

const FRESH_MS = 3_600_000;
const KEPT = '30 days';

export interface KeptSearch {
  found: ListedTitle[];
  fresh: boolean;
  asOf: string;
}

export async function keptSearch(db: Db, question: string, provider: string): Promise<KeptSearch | undefined> {
  const row = await db('discover_searches')
    .where({ question, provider })
    .whereRaw(`made_at > now() - interval '${KEPT}'`)
    .first('found', 'made_at');
  if (!row) return undefined;
  return { found: row.found, fresh: row.made_at.getTime() > Date.now() - FRESH_MS, asOf: row.made_at.toISOString() };
}

export async function keepSearch(
  db: Db,
  { question, provider }: { question: string; provider: string },
  found: readonly ListedTitle[],
): Promise<void> {
  const row = { found: JSON.stringify(found) };
  await db('discover_searches')
    .insert({ question, provider, ...row })
    .onConflict(['question', 'provider'])
    .merge({ ...row, made_at: db.raw('now()') });
}

/** Deletes answers past their use. */
export async function trimSearches(db: Db): Promise<void> {
  await db.raw(`delete from discover_searches where made_at < now() - interval '${KEPT}'`);
}
