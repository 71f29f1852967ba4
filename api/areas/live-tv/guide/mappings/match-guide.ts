import type { Db } from '#platform/db.ts';
import { applyMatches, findCandidates, findToMatch, putSuggestions } from './mappings.store.ts';
import { type Match, matchChannels } from './matching.ts';

/** Matches below it are only suggestions. */
export const MIN_SCORE = 0.85;

/** Maps channels without a guide, after a refresh of a source and after a scan; returns those that were mapped. */
export async function matchUnmapped(db: Db, channelIds?: readonly string[]): Promise<string[]> {
  const channels = await findToMatch(db, { ids: channelIds, unmapped: true });
  if (channels.length === 0) return [];
  const matches = matchChannels(channels, await findCandidates(db));
  return applyMatches(
    db,
    matches.filter(({ score }) => score >= MIN_SCORE),
  );
}

/** After a refresh: the suggestions of the source, and the channels that are still without a guide. */
export async function matchSource(db: Db, sourceId: string): Promise<void> {
  const candidates = await findCandidates(db, [sourceId]);
  const channels = await findToMatch(db, { unmapped: false });
  await putSuggestions(db, sourceId, matchChannels(channels, candidates));
  await matchUnmapped(db);
}

interface Wanted {
  guideSourceIds?: string[] | undefined;
  channelIds?: string[] | undefined;
  /** Also channels with a mapping that was not made by hand. */
  replace: boolean;
  minScore: number;
}

/** The matches of a request, and the channels without one. */
export async function matchesFor(db: Db, wanted: Wanted): Promise<{ matches: Match[]; unmatched: string[] }> {
  const channels = await findToMatch(db, { ids: wanted.channelIds, unmapped: !wanted.replace });
  const candidates = await findCandidates(db, wanted.guideSourceIds);
  const matches = matchChannels(channels, candidates).filter(({ score }) => score >= wanted.minScore);
  const found = new Set(matches.map(({ channelId }) => channelId));
  return { matches, unmatched: channels.map(({ id }) => id).filter((id) => !found.has(id)) };
}
