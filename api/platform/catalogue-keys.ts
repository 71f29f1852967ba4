export interface KeyDefinition {
  /** The agent or provider that uses it. */
  agent: string;
  /** The environment variable that it otherwise comes from. */
  env: string;
  /** A value that is never answered. */
  secret: boolean;
  /** The agent answers without it. */
  optional: boolean;
}

const key = (agent: string, env: string, more: Partial<KeyDefinition> = {}): KeyDefinition => ({
  agent,
  env: `FOYER_${env}`,
  secret: true,
  optional: false,
  ...more,
});

/** Every catalogue key; no other can be saved. */
export const catalogueKeys = {
  'tmdb.apiKey': key('tmdb', 'TMDB_API_KEY'),
  'tvdb.apiKey': key('tvdb', 'TVDB_API_KEY'),
  'tvdb.pin': key('tvdb', 'TVDB_PIN', { optional: true }),
  'omdb.apiKey': key('omdb', 'OMDB_API_KEY'),
  'fanart.apiKey': key('fanart', 'FANART_API_KEY'),
  'fanart.clientKey': key('fanart', 'FANART_CLIENT_KEY', { optional: true }),
  'comicvine.apiKey': key('comicvine', 'COMICVINE_API_KEY'),
  'igdb.clientId': key('igdb', 'IGDB_CLIENT_ID', { secret: false }),
  'igdb.clientSecret': key('igdb', 'IGDB_CLIENT_SECRET'),
  'opensubtitles.apiKey': key('opensubtitles', 'OPENSUBTITLES_API_KEY'),
  'opensubtitles.username': key('opensubtitles', 'OPENSUBTITLES_USERNAME', { secret: false, optional: true }),
  'opensubtitles.password': key('opensubtitles', 'OPENSUBTITLES_PASSWORD', { optional: true }),
} as const satisfies Record<string, KeyDefinition>;

export type CatalogueKeyName = keyof typeof catalogueKeys;
export const catalogueKeyNames = Object.keys(catalogueKeys) as CatalogueKeyName[];
export const isCatalogueKey = (name: string): name is CatalogueKeyName => Object.hasOwn(catalogueKeys, name);

/** Values of the environment by the name of the key; an empty variable counts as absent. */
export function keysOfEnvironment(environment: NodeJS.ProcessEnv): Partial<Record<CatalogueKeyName, string>> {
  const found = catalogueKeyNames.map((name) => [name, environment[catalogueKeys[name].env]?.trim()] as const);
  return Object.fromEntries(found.filter(([, value]) => value));
}
