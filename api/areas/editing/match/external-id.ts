import { invalid } from '#kernel/errors.ts';

/** Addresses of pages with the provider of the id in them. */
const PAGES: readonly (readonly [provider: string, host: RegExp, path: RegExp])[] = [
  ['tmdb', /(?:^|\.)themoviedb\.org$/, /^\/(?:movie|tv)\/(\d{1,12})(?:-[^/]*)?(?:\/|$)/],
  ['imdb', /(?:^|\.)imdb\.com$/, /^\/title\/(tt\d{5,10})(?:\/|$)/],
  ['wikidata', /(?:^|\.)wikidata\.org$/, /^\/(?:wiki|entity)\/(Q\d{1,12})$/],
  ['musicbrainzReleaseGroup', /(?:^|\.)musicbrainz\.org$/, /^\/release-group\/([0-9a-f-]{36})(?:\/|$)/],
  ['musicbrainz', /(?:^|\.)musicbrainz\.org$/, /^\/(?:release|artist|recording)\/([0-9a-f-]{36})(?:\/|$)/],
  ['openlibrary', /(?:^|\.)openlibrary\.org$/, /^\/(?:works|authors)\/(OL\d{1,12}[WA])(?:\/|$)/],
  ['anilist', /(?:^|\.)anilist\.co$/, /^\/(?:anime|manga)\/(\d{1,12})(?:\/|$)/],
  ['comicvine', /(?:^|\.)gamespot\.com$/, /\/4050-(\d{1,12})(?:\/|$)/],
];

/** An id by its provider, of `provider:id` or of the address of a page. Throws 400 for anything else. */
export function externalIdOf(text: string): Record<string, string> {
  const found = named(text) ?? (URL.canParse(text) ? inAddress(new URL(text)) : undefined);
  if (!found)
    throw invalid(['query', 'externalId'], 'unknown_id', 'provider:id, or the address of a page of a catalogue');
  return found;
}

function named(text: string): Record<string, string> | undefined {
  const [, provider, id] = /^([a-zA-Z][a-zA-Z0-9]{1,39}):([\w.-]{1,200})$/.exec(text) ?? [];
  return provider !== undefined && id !== undefined ? { [provider]: id } : undefined;
}

function inAddress({ hostname, pathname }: URL): Record<string, string> | undefined {
  for (const [provider, host, path] of PAGES) {
    const [, id] = (host.test(hostname) && path.exec(pathname)) || [];
    if (id) return { [provider]: id };
  }
  return undefined;
}
