// The identity of an item, and why a candidate fits, as people read them.
import type { ItemMatch, MatchCandidate } from 'foyer-client';
import { dateText } from '#features/item/words.ts';
import * as m from '#messages/match.ts';
import { agentText } from './words.ts';

const PERCENT = 100;
const BY = { person: m.byPerson, scan: m.byScan, refresh: m.byRefresh } as const;
const BECAUSE: Readonly<Record<MatchCandidate['because'][number], () => string>> = {
  ...{ title: m.becauseTitle, year: m.becauseYear, 'external-id': m.becauseId, runtime: m.becauseRuntime },
  ...{ 'child-count': m.becauseChildren, fingerprint: m.becausePrint, isbn: m.becauseIsbn },
};

const joined = (parts: readonly (string | undefined)[]): string => parts.filter(Boolean).join(' · ');

const scoreText = (score: number): string => m.percentSure({ percent: Math.round(score * PERCENT) });

/** Such as `Identified by TMDB · found by a scan · 3 Nov 2026 · 98 % alike`. */
export function matchText({ state, agent, matchedBy, matchedAt, confidence }: ItemMatch): string {
  if (state !== 'matched') return state === 'unmatched' ? m.stateUnmatched() : m.stateLocal();
  return joined([
    agent === undefined ? m.stateMatchedIds() : m.stateMatched({ agent: agentText(agent) }),
    matchedBy && BY[matchedBy](),
    matchedAt && dateText(matchedAt),
    confidence === undefined ? undefined : scoreText(confidence),
  ]);
}

/** Such as `TMDB · 98 % alike · title, year`. */
export const candidateText = ({ agent, score, because, childCounts }: MatchCandidate): string =>
  joined([
    agentText(agent),
    scoreText(score),
    because.map((one) => BECAUSE[one]()).join(', '),
    childCounts?.episodes === undefined ? undefined : m.counts({ count: childCounts.episodes }),
    childCounts?.tracks === undefined ? undefined : m.tracks({ count: childCounts.tracks }),
  ]);
