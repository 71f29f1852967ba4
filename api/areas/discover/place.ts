import { requireAllowed } from '#identity/restrictions.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import type { Place } from '#platform/agents/listed-title.ts';
import type { Settings } from '#platform/settings.ts';

/** Throws 403 for an account whose restriction denies it, and while the setting is off. */
export function requireDiscover({ who, deps }: Call): void {
  requireAllowed(who, 'discover');
  if (!deps.settings.get('discover.enabled'))
    throw new ApiError('FORBIDDEN', 'Discover is switched off', { setting: 'discover.enabled' });
}

/** The country and the language of a request; those of the profile, else those of the server, where it names none. */
export async function placeOf(
  { db, who, deps }: Call,
  given: { country?: string | undefined; language?: string | undefined },
): Promise<Place> {
  const own = await db('profiles as p')
    .join('accounts as a', 'a.id', 'p.account_id')
    .where('p.id', who.profileId || null)
    .first(
      { country: db.raw('coalesce(p.country, a.country)') },
      { language: db.raw('coalesce(p.language, a.language)') },
    );
  const { country, language } = (own ?? {}) as { country?: string | null; language?: string | null };
  const server = serverPlace(deps.settings);
  return {
    country: given.country ?? country ?? server.country,
    language: given.language ?? language ?? server.language,
  };
}

/** The country and the language of the server. */
export function serverPlace(settings: Settings): Place {
  const language = settings.get('metadata.language') ?? settings.get('server.language');
  return { country: settings.get('server.country') ?? countryOf(settings.get('server.language')), language };
}

/** The country in which most people who speak a language live. */
function countryOf(language: string): string {
  const region = new Intl.Locale(language).maximize().region ?? '';
  return /^[A-Z]{2}$/.test(region) ? region : 'US';
}
