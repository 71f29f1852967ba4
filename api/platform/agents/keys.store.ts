// Keys of catalogues. A key that the resource declares wins, then the saved one, then the environment's.
import { type CatalogueKeyName, catalogueKeyNames, catalogueKeys } from '../catalogue-keys.ts';
import type { Config } from '../config.ts';
import type { Db } from '../db.ts';
import { type Keys, seal, sign, unseal } from '../keys.ts';
import type { Row } from '../typed-query.ts';
import type { KeyValues } from './agent.ts';

export interface KeyDeps {
  db: Db;
  config: Pick<Config, 'catalogueKeys' | 'declaredCatalogueKeys'>;
  ring: Keys;
}

const placeOf = (name: string): string => `catalogue_keys|sealed|${name}`;
/** Differs between values; the key ring is needed to compute it. */
const markOf = (ring: Keys, name: string, value: string): string =>
  sign(ring, `${name}|${value}`).toString('base64url');

export interface KeyState {
  name: CatalogueKeyName;
  source: 'resource' | 'app' | 'environment' | 'missing';
  value: string | undefined;
  savedAt: Date | null;
  savedBy: string | null;
  /** Another source has a value too. */
  overridden: boolean;
  refusedAt: Date | null;
}

/** The state of every key, or of those of one agent. Read at each use, so that a new key is in force at once. */
export async function keyStates(deps: KeyDeps, agent?: string): Promise<KeyState[]> {
  const names = catalogueKeyNames.filter((name) => agent === undefined || catalogueKeys[name].agent === agent);
  const rows = await deps.db('catalogue_keys').whereIn('name', names).select();
  return names.map((name) => stateOf(deps, { name, row: rows.find((row) => row.name === name) }));
}

function stateOf(
  { config, ring }: KeyDeps,
  { name, row }: { name: CatalogueKeyName; row: Row<'catalogue_keys'> | undefined },
): KeyState {
  const saved = row?.sealed ? unseal(ring, row.sealed, placeOf(name)) : undefined;
  const given = [
    ['resource', config.declaredCatalogueKeys?.[name]],
    ['app', saved],
    ['environment', config.catalogueKeys[name]],
  ] as const;
  const sources = given.filter(([, value]) => value !== undefined);
  const [[source, value] = ['missing', undefined] as const] = sources;
  const isRefused = value !== undefined && row?.refused_mark === markOf(ring, name, value);
  return {
    ...{ name, source, value, overridden: sources.length > 1 },
    ...(saved === undefined || !row ? UNSAVED : { savedAt: row.saved_at, savedBy: row.saved_by }),
    refusedAt: isRefused ? row.refused_at : null,
  };
}

const UNSAVED = { savedAt: null, savedBy: null };

/** The values in force of an agent's keys, the names of missing ones that it needs, and whether one was refused. */
export async function keysInForce(
  deps: KeyDeps,
  agent: string,
): Promise<{ values: KeyValues; missing: CatalogueKeyName[]; refused: boolean }> {
  if (!catalogueKeyNames.some((name) => catalogueKeys[name].agent === agent))
    return { values: {}, missing: [], refused: false };
  const states = await keyStates(deps, agent);
  const values = Object.fromEntries(states.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
  const missing = states.filter(({ name, value }) => value === undefined && !catalogueKeys[name].optional);
  const refused = states.some(({ refusedAt }) => refusedAt !== null);
  return { values, missing: missing.map(({ name }) => name), refused };
}

/** Saves a key, or removes the saved one. */
export async function saveKey(
  { db, ring }: KeyDeps,
  name: CatalogueKeyName,
  { value, by }: { value: string | null; by: string | null },
): Promise<void> {
  if (value === null) {
    await db('catalogue_keys').where({ name }).delete();
    return;
  }
  const row = { sealed: seal(ring, value, placeOf(name)), saved_at: new Date(), saved_by: by };
  await db('catalogue_keys')
    .insert({ name, ...row, refused_at: null, refused_mark: null })
    .onConflict('name')
    .merge();
}

/** Notes that the catalogue refused these values, or took them. */
export async function noteRefusal({ db, ring }: KeyDeps, values: KeyValues, refused: boolean): Promise<void> {
  for (const [name, value] of Object.entries(values)) {
    const mark = markOf(ring, name, value);
    if (refused) {
      const noted = { refused_at: new Date(), refused_mark: mark };
      await db('catalogue_keys')
        .insert({ name, ...noted })
        .onConflict('name')
        .merge(noted);
    } else {
      await db('catalogue_keys').where({ name, refused_mark: mark }).update({ refused_at: null, refused_mark: null });
    }
  }
}
