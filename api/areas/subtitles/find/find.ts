import { createHash } from 'node:crypto';
import { isEditingAdmin } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import { iso } from '#kernel/schemas.ts';
import { findHere } from '../fetch/here.ts';
import type { Asked, Choice } from '../providers/provider.ts';
import { type Asking, askProviders, configuredProviders } from '../providers/providers.ts';
import { type AskedFilm, askedFilm, hashOf } from './asked.view.ts';
import type { FindQuery, ProviderOutcome, SubtitleFindings } from './find.schemas.ts';
import { oneAtATime, requireSearches } from './limits.ts';
import { profileLanguages } from './profile-languages.view.ts';
import { scoreOf } from './score.ts';
import { type Finding, findEqualSearch, findingId, insertSearch, type Search } from './searches.store.ts';

const MOST = 100;
const MINUTE_MS = 60_000;
/** Minutes for which findings can be fetched. */
export const FETCHABLE = { own: 30, admin: 24 * 60 };

/** As an editor: without limits. */
export async function searchAsEditor(call: Call, id: string, query: FindQuery): Promise<SubtitleFindings> {
  const film = await askedFilm(call, id);
  const search = await searched(call, film, { query, counted: false });
  return shown(call, { film, search, minutes: FETCHABLE.admin });
}

/** As a viewer: within the allowance, by the film's own identifiers, without forced subtitles. */
export async function find(call: Call, id: string, query: FindQuery): Promise<SubtitleFindings> {
  const isAdmin = isEditingAdmin(call.who);
  if (query.query !== undefined && !isAdmin)
    throw new ApiError('FORBIDDEN', 'Another title is for administrators', { by: 'title' });
  const film = await askedFilm(call, id);
  const asked: FindQuery = isAdmin ? query : { ...query, forced: 'exclude' };
  return oneAtATime(call, async () => {
    const before = await requireSearches(call);
    const search = await searched(call, film, { query: asked, counted: before !== undefined });
    return {
      ...(await shown(call, { film, search, minutes: isAdmin ? FETCHABLE.admin : FETCHABLE.own })),
      ...(before && { allowance: before.allowance, searchesLeft: before.left - 1 }),
    };
  });
}

interface Wanted {
  query: FindQuery;
  counted: boolean;
}

/** The saved search: from an equal one of the last minutes, else from the providers. Throws 502. */
async function searched(call: Call, film: AskedFilm, { query, counted }: Wanted): Promise<Search> {
  const { db, deps, who } = call;
  const providers = await configuredProviders(deps);
  if (providers.length === 0)
    throw new ApiError('PROVIDER_UNAVAILABLE', 'No provider of subtitles is set up', { reason: 'no-provider' });
  const asked = await askedOf(call, film, query);
  const question = questionOf(
    film,
    asked,
    providers.map(({ id }) => id),
  );
  const own = { accountId: who.accountId, itemId: film.item.id, question, counted, languages: asked.languages };
  const equal = await findEqualSearch(db, question);
  if (equal)
    return insertSearch(db, {
      ...own,
      ...{ candidates: equal.candidates, providers: equal.providers, askedAt: equal.asked_at },
    });
  const movieHash = asked.query === undefined ? await hashOf(call, film.file) : undefined;
  const whole = { ...asked, ...(movieHash !== undefined && { movieHash }) };
  const asking = await askProviders(deps, { providers, asked: whole, signal: call.signal });
  if (asking.every(({ fault }) => fault)) throw unavailable(asking);
  return insertSearch(db, { ...own, candidates: ranked(asking, whole), providers: asking.map(outcomeOf) });
}

async function askedOf(call: Call, { facts }: AskedFilm, query: FindQuery): Promise<Asked> {
  const languages = query.languages ?? (await languagesOf(call));
  return {
    ...facts,
    languages: [...new Set(languages.map((tag) => canonical(tag)))],
    ...{ hearingImpaired: query.hearingImpaired, forced: query.forced },
    ...(query.query !== undefined && { query: query.query }),
  };
}

function canonical(tag: string): string {
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? tag;
  } catch {
    return tag;
  }
}

/** The subtitle languages of the profile, else the language of the person or the server. */
async function languagesOf({ db, who, deps: { settings } }: Call): Promise<string[]> {
  const preferred = await profileLanguages(db, who.profileId, settings.get('playback.defaults'));
  return preferred.length > 0 ? preferred : [who.language ?? settings.get('server.language')];
}

/** All that decides what is found, without the hash of the file, which reading it would cost. */
function questionOf({ item, file }: AskedFilm, asked: Asked, providers: readonly string[]): string {
  const { languages, hearingImpaired, forced, query, ids, show } = asked;
  const parts = [item.id, file?.id, file?.sizeBytes, [...languages].sort(), hearingImpaired, forced, query, ids, show];
  return createHash('sha256')
    .update(JSON.stringify([parts, providers]))
    .digest('base64url');
}

function unavailable(asking: readonly Asking[]): ApiError {
  const waits = asking.flatMap(({ fault }) => fault?.retryAfterSec ?? []);
  const allQuota = asking.every(({ fault }) => fault?.reason === 'quota');
  return new ApiError('PROVIDER_UNAVAILABLE', 'No provider of subtitles answers', {
    reason: allQuota ? 'quota' : 'down',
    providers: asking.map(outcomeOf),
    ...(waits.length > 0 && { retryAfterSec: Math.min(...waits) }),
  });
}

const outcomeOf = ({ provider, found, tookMs, fault }: Asking): ProviderOutcome => ({
  ...{ id: provider.id, name: provider.name, ok: fault === undefined, found: found.length, tookMs },
  ...(fault && { reason: fault.reason }),
});

const fits = (has: boolean, choice: Choice): boolean => choice === 'include' || has === (choice === 'only');

/** Best first. Providers do not all know the filters, so they hold here too. */
function ranked(asking: readonly Asking[], asked: Asked): Finding[] {
  const wanted = new Set(asked.languages.map((tag) => tag.split('-')[0]));
  const all = asking.flatMap(({ provider, found }) =>
    found.map((one) => ({ ...one, provider: provider.id, providerName: provider.name, score: scoreOf(one, asked) })),
  );
  return all
    .filter((one) => fits(one.hearingImpaired, asked.hearingImpaired) && fits(one.forced, asked.forced))
    .filter((one) => wanted.has(one.language.split('-')[0]))
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST);
}

async function shown(
  call: Call,
  { film, search, minutes }: { film: AskedFilm; search: Search; minutes: number },
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
