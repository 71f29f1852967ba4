import type { Config } from './config.ts';
import type { Db } from './db.ts';
import { isCurrent, type Keys, seal, unseal } from './keys.ts';
import type { Log } from './log.ts';
import type { Redis } from './redis.ts';
import { type SavedRow, savedRows } from './settings/saved.ts';
import { type StoredKey, type StoredValue, storedTable } from './settings/table.ts';

export type { Rung } from './settings/media-keys.ts';
export { type SavedRow, savedRows } from './settings/saved.ts';
export {
  definitionOf,
  groupOf,
  isPublicKey,
  isSettingKey,
  type SettingKey,
  type SettingValue,
  type StoredKey,
  settingKeys,
  settingTable,
} from './settings/table.ts';

/** The source of a value in force. */
export type Source = 'resource' | 'saved' | 'environment' | 'default';

export interface Settings {
  /** The value in force: resource, saved, environment, default. Read from memory. */
  get<K extends StoredKey>(key: K): StoredValue<K>;
  sourceOf(key: StoredKey): Source;
  /** The value in force without a saved one. */
  unsaved<K extends StoredKey>(key: K): { value: StoredValue<K>; source: Source };
  /** The value in force without a declared one. */
  undeclared(key: StoredKey): unknown;
  /** Incremented by every write. */
  revision(): number;
  /** Reads the saved rows again and returns them by key; also done every 30 s and at a Redis message. */
  reload(): Promise<ReadonlyMap<string, SavedRow>>;
  stop(): void;
}

const CHANNEL = 'foyer:settings';
const isSecret = (key: StoredKey): boolean => storedTable[key].marks.includes('S');
/** Binds a sealed value to its key, so that it opens nowhere else. */
const placeOf = (key: StoredKey): string => `setting:${key}`;

/** The stored form of a value, with secrets sealed. Throws if the schema refuses it. */
export function storedValue(key: StoredKey, value: unknown, keys: Keys): string {
  const parsed: unknown = storedTable[key].schema.parse(value);
  return JSON.stringify(isSecret(key) && typeof parsed === 'string' ? seal(keys, parsed, placeOf(key)) : parsed);
}

/** The plain form of a saved value; undefined for a secret that no key opens. */
export function openedValue(key: string, value: unknown, keys: Keys | undefined): unknown {
  if (!Object.hasOwn(storedTable, key) || !isSecret(key as StoredKey) || typeof value !== 'string') return value;
  return keys && unseal(keys, value, placeOf(key as StoredKey));
}

/**
 * Seals secrets of earlier keys again with the current key; values and revision stay the same. `closed` are the
 * settings that no key opens.
 */
export async function resealSettings(db: Db, keys: Keys): Promise<{ resealed: number; closed: string[] }> {
  const secrets = (Object.keys(storedTable) as StoredKey[]).filter(isSecret);
  const rows = await db('settings')
    .whereIn('key', secrets)
    .select<{ key: StoredKey; value: unknown }[]>('key', 'value');
  const counts: { resealed: number; closed: string[] } = { resealed: 0, closed: [] };
  for (const { key, value } of rows) {
    if (typeof value !== 'string' || isCurrent(keys, value)) continue;
    const text = unseal(keys, value, placeOf(key));
    if (text === undefined) counts.closed.push(key);
    else {
      const fresh = JSON.stringify(seal(keys, text, placeOf(key)));
      await db('settings')
        .where({ key })
        .whereRaw('value = ?::jsonb', [JSON.stringify(value)])
        .update({ value: fresh });
      counts.resealed += 1;
    }
  }
  return counts;
}

/** Saves in the caller's transaction; call `announceSettings` after its commit. Not for secrets. */
export async function saveSettings(
  db: Db,
  values: Partial<Record<StoredKey, unknown>>,
  byAccountId: string | null,
): Promise<void> {
  for (const [key, value] of Object.entries(values)) {
    const schema = storedTable[key as StoredKey].schema;
    const row = { key, value: JSON.stringify(schema.parse(value)), updated_at: new Date(), updated_by: byAccountId };
    await db('settings').insert(row).onConflict('key').merge();
  }
}

export async function announceSettings(redis: Redis): Promise<void> {
  await redis.publish(CHANNEL, '').catch(() => 0); // without Redis the other processes read them within 30 s
}

type Values = { [K in StoredKey]: StoredValue<K> };
type Given = Record<string, unknown>;

interface InForce {
  values: Values;
  sources: Record<StoredKey, Source>;
}

/** For each key the value of the first source with a valid one, otherwise its default. */
function inForce(given: Record<Exclude<Source, 'default'>, Given>): InForce {
  const order = ['resource', 'saved', 'environment'] as const;
  const found = Object.entries(storedTable).map(([key, { schema }]) => {
    const tried = order
      .filter((source) => Object.hasOwn(given[source], key))
      .map((source) => ({ source, parsed: schema.safeParse(given[source][key]) }));
    const good = tried.find(({ parsed }) => parsed.success);
    return { key, source: good?.source ?? 'default', value: good ? good.parsed.data : schema.parse(undefined) };
  });
  return {
    values: Object.fromEntries(found.map(({ key, value }) => [key, value])) as Values,
    sources: Object.fromEntries(found.map(({ key, source }) => [key, source])) as Record<StoredKey, Source>,
  };
}

export interface SettingsSetting {
  config: Config;
  db: Db;
  redis: Redis;
  log: Log;
  /** Opens secrets; without it, saved secrets are undefined. */
  keys?: Keys;
}

export function createSettings({ config, db, redis, log, keys }: SettingsSetting): Settings {
  const environment: Partial<Record<StoredKey, unknown>> = {
    'server.name': config.serverName,
    ...(config.trustedProxies.length > 0 ? { 'network.trustedProxies': config.trustedProxies } : {}),
  };
  const outside = inForce({ resource: config.declaredSettings, saved: {}, environment });
  let now = outside;
  let saved: Given = {};
  let revision = 0;
  const reload = async (): Promise<ReadonlyMap<string, SavedRow>> => {
    const [rows, state] = await Promise.all([savedRows(db), db('server_state').first('settings_revision')]);
    saved = Object.fromEntries([...rows].map(([key, { value }]) => [key, openedValue(key, value, keys)]));
    now = inForce({ resource: config.declaredSettings, saved, environment });
    revision = state?.settings_revision ?? 0;
    return rows;
  };
  const quietly = (): void =>
    void reload().catch((error: Error) => log.debug({ err: error.message }, 'settings not read'));
  const timer = setInterval(quietly, 30_000);
  timer.unref();
  const subscriber = redis.duplicate({ enableOfflineQueue: true });
  subscriber.on('error', () => undefined); // connectRedis logs a lost server
  subscriber.on('ready', () => void subscriber.subscribe(CHANNEL).then(quietly, () => undefined)); // also after it was unavailable at the start
  subscriber.on('message', quietly);
  return {
    get: (key) => now.values[key],
    sourceOf: (key) => now.sources[key],
    unsaved: (key) => ({ value: outside.values[key], source: outside.sources[key] }),
    undeclared: (key) => inForce({ resource: {}, saved, environment }).values[key],
    revision: () => revision,
    reload,
    stop() {
      clearInterval(timer);
      subscriber.disconnect();
    },
  };
}
