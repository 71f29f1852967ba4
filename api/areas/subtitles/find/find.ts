import { createHash } from 'node:crypto';
import { isEditingAdmin } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import { iso } from '#kernel/schemas.ts';
import { findHere } from '../fetch/here.ts';
import type { Choice, Found, Wanted } from '../providers/provider.ts';
import { configuredProviders, type Outcome, queryProviders } from '../providers/providers.ts';
import { canonicalTag, firstPart } from '../tags.ts';
import type { FindQuery, ProviderOutcome, SubtitleFindings } from './find.schemas.ts';
import { oneAtATime, requireSearches } from './limits.ts';
import { profileLanguages } from './profile-languages.view.ts';
import { scoreOf } from './score.ts';
import {
  deleteSearch,
  type Finding,
  fillSearch,
  findEqualSearch,
  findingId,
  insertSearch,
  type Search,
} from './searches.store.ts';
import { hashOf, type WantedFilm, wantedFilm } from './wanted.view.ts';

const MOST = 100;
const MINUTE_MS = 60_000;
/** Minutes for which findings can be fetched. */
export const FETCHABLE = { own: 30, admin: 24 * 60 };

/** As an editor: without limits. */
export async function searchAsEditor(call: Call, id: string, query: FindQuery): Promise<SubtitleFindings> {
  const film = await wantedFilm(call, id);
  const search = await searched(call, film, { query, counted: false });
  return shown(call, { film, search, minutes: FETCHABLE.admin });
}

/** As a viewer: within the allowance, by the film's own identifiers, without forced subtitles. */
export async function find(call: Call, id: string, query: FindQuery): Promise<SubtitleFindings> {
  const isAdmin = isEditingAdmin(call.who);
  if (query.query !== undefined && !isAdmin)
    throw new ApiError('FORBIDDEN', 'Another title is for administrators', { by: 'title' });
  const film = await wantedFilm(call, id);
  const wanted: FindQuery = isAdmin ? query : { ...query, forced: 'exclude' };
  return oneAtATime(call, async () => {
    const before = await requireSearches(call);
    const search = await searched(call, film, { query: wanted, counted: before !== undefined });
    return {
      ...(await shown(call, { film, search, minutes: isAdmin ? FETCHABLE.admin : FETCHABLE.own })),
      ...(before && { allowance: before.allowance, searchesLeft: before.left - 1 }),
    };
  });
}

interface SearchRequest {
  query: FindQuery;
  counted: boolean;
}

/** The saved search: from an equal one of the last minutes, else from the providers. Throws 502. */
async function searched(call: Call, film: WantedFilm, { query, counted }: SearchRequest): Promise<Search> {
  const { db, deps, who } = call;
  const providers = await configuredProviders(deps);
  if (providers.length === 0)
    throw new ApiError('PROVIDER_UNAVAILABLE', 'No provider of subtitles is set up', { reason: 'no-provider' });
  const wanted = await wantedOf(call, film, query);
  const question = questionOf(
    film,
    wanted,
    providers.map(({ id }) => id),
  );
  const own = { accountId: who.accountId, itemId: film.item.id, question, counted, languages: wanted.languages };
  const equal = await findEqualSearch(db, question);
  if (equal)
    return insertSearch(db, {
      ...own,
      ...{ candidates: equal.candidates, providers: equal.providers, queriedAt: equal.queried_at },
    });
  // saved before the requests, so that a search counts though its client leaves
  const begun = await insertSearch(db, { ...own, candidates: [], providers: [] });
  const movieHash = wanted.query === undefined ? await hashOf(call, film.file) : undefined;
  const whole = { ...wanted, ...(movieHash !== undefined && { movieHash }) };
  const outcomes = await queryProviders(deps, { providers, wanted: whole, signal: call.signal });
  if (outcomes.every(({ fault }) => fault)) {
    await deleteSearch(db, begun.id);
    throw unavailable(outcomes);
  }
  return fillSearch(db, begun.id, { candidates: ranked(outcomes, whole), providers: outcomes.map(outcomeOf) });
}

async function wantedOf(call: Call, { facts }: WantedFilm, query: FindQuery): Promise<Wanted> {
  const named = tagsOf(query.languages ?? []);
  const languages = named.length > 0 ? named : await languagesOf(call);
  return {
    ...facts,
    languages: [...new Set(languages)],
    ...{ hearingImpaired: query.hearingImpaired, forced: query.forced },
    ...(query.query !== undefined && { query: query.query }),
  };
}

/** A preference may be any text; a language may become part of a file's name. */
const tagsOf = (texts: readonly string[]): string[] => texts.flatMap((text) => canonicalTag(text) ?? []);

/** The subtitle languages of the profile, else the language of the person or the server. */
async function languagesOf({ db, who, deps: { settings } }: Call): Promise<string[]> {
  const preferred = tagsOf(await profileLanguages(db, who.profileId, settings.get('playback.defaults')));
  return preferred.length > 0 ? preferred : tagsOf([who.language ?? settings.get('server.language')]);
}

/** Hash of everything that decides the findings, except for the hash of the file, which must be read for it. */
function questionOf({ item, file }: WantedFilm, wanted: Wanted, providers: readonly string[]): string {
  const { languages, hearingImpaired, forced, query, ids, show } = wanted;
  const parts = [item.id, file?.id, file?.sizeBytes, [...languages].sort(), hearingImpaired, forced, query, ids, show];
  return createHash('sha256')
    .update(JSON.stringify([parts, providers]))
    .digest('base64url');
}

function unavailable(outcomes: readonly Outcome[]): ApiError {
  const waits = outcomes.flatMap(({ fault }) => fault?.retryAfterSec ?? []);
  const allQuota = outcomes.every(({ fault }) => fault?.reason === 'quota');
  return new ApiError('PROVIDER_UNAVAILABLE', 'No provider of subtitles answers', {
    reason: allQuota ? 'quota' : 'down',
    providers: outcomes.map(outcomeOf),
    ...(waits.length > 0 && { retryAfterSec: Math.min(...waits) }),
  });
}

const outcomeOf = ({ provider, found, tookMs, fault }: Outcome): ProviderOutcome => ({
  ...{ id: provider.id, name: provider.name, ok: fault === undefined, found: found.length, tookMs },
  ...(fault && { reason: fault.reason }),
});

const fits = (has: boolean, choice: Choice): boolean => choice === 'include' || has === (choice === 'only');

/** Without NUL and half surrogates, which the database does not take. */
function cleaned(found: Found): Found {
  const texts = Object.entries(found).filter((pair): pair is [string, string] => typeof pair[1] === 'string');
  const clean = texts.map(([name, text]) => [name, text.toWellFormed().replaceAll('\0', '')]);
  return { ...found, ...Object.fromEntries(clean) };
}

/** Best first. Providers do not all know the filters, so they hold here too. */
function ranked(outcomes: readonly Outcome[], wanted: Wanted): Finding[] {
  const languages = new Set(wanted.languages.map(firstPart));
  const all = outcomes.flatMap(({ provider, found }) =>
    found.map((one) => ({
      ...cleaned(one),
      ...{ provider: provider.id, providerName: provider.name, score: scoreOf(one, wanted) },
    })),
  );
  return all
    .filter((one) => fits(one.hearingImpaired, wanted.hearingImpaired) && fits(one.forced, wanted.forced))
    .filter((one) => languages.has(firstPart(one.language)))
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST);
}

async function shown(
  call: Call,
  { film, search, minutes }: { film: WantedFilm; search: Search; minutes: number },
): Promise<SubtitleFindings> {
  const here = film.file ? await findHere(call.db, film.file.id) : undefined;
  return {
    items: search.candidates.map(({ file, ...one }, place) => {
      const alreadyHere = here?.byFile(one.provider, file);
      return { id: findingId(search, place), ...one, ...(alreadyHere && { alreadyHere }) };
    }),
    ...{ providers: search.providers, languages: search.languages },
    expiresAt: iso(new Date(search.made_at.getTime() + minutes * MINUTE_MS)),
  };
}
