import { ApiError } from '#kernel/errors.ts';
import type { Config } from '#platform/config.ts';
import type { Db } from '#platform/db.ts';
import { type Keys, sha256, unseal } from '#platform/keys.ts';
import type { Log } from '#platform/log.ts';
import type { Redis } from '#platform/redis.ts';
import type { Row } from '#platform/typed-query.ts';
import { type Judged, judge, type Licence, opens, type PlusFeature, readLicence } from './licence.ts';

/** Dependencies of licence checks. */
export interface PlusDeps {
  config: Config;
  db: Db;
  redis: Redis;
  keys: Keys;
  log: Log;
  draining: AbortSignal;
}

/** Associated data that binds the sealed licence to its column. */
export const LICENCE_PLACE = 'plus_licence|sealed|one';
const CHANNEL = 'foyer:plus';
const CACHED_MS = 60_000;

export interface Held {
  licence: Licence | undefined;
  installedAt: Date | undefined;
  installedBy: { id: string; name: string } | undefined;
  /** Time of reading by the database clock in epoch milliseconds, and by `performance.now()`. */
  readAtMs: number;
  readAt: number;
  /** State and licence of the last `settings.changed`, and the last notice before the end. */
  emitted: string | null;
  noticed: number | null;
}

/** Column with the state and licence that were emitted last. */
export const SUMMARY = 'told';

interface LicenceRow extends Row<'plus_licence'> {
  by_name: string | null;
  now: Date;
}

/** Reads the licence and verifies its signature; a declared one takes precedence over an installed one. */
export async function holdLicence(deps: Omit<PlusDeps, 'redis' | 'draining'>): Promise<Held> {
  const { config, db, keys } = deps;
  if (config.plusLicence !== undefined) await noteDeclared(db, config.plusLicence);
  const found = await db.raw<{ rows: LicenceRow[] }>(
    `select p.*, a.display_name as by_name, now() as now from plus_licence p left join accounts a on a.id = p.installed_by`,
  );
  const [row] = found.rows;
  if (!row) throw new Error('no row');
  const { token, ...installed } =
    config.plusLicence === undefined
      ? installedHere(deps, row)
      : { token: config.plusLicence, installedAt: row.declared_at ?? undefined, installedBy: undefined };
  return {
    ...installed,
    licence: token === undefined ? undefined : await readLicence(token, config.plusVerifier ?? [], keys.serverId),
    readAtMs: row.now.getTime(),
    readAt: performance.now(),
    emitted: row[SUMMARY],
    noticed: row.noticed,
  };
}

function installedHere({ keys, log }: Pick<PlusDeps, 'keys' | 'log'>, row: LicenceRow) {
  const { sealed, installed_by: by, by_name: name } = row;
  const token = sealed === null ? undefined : unseal(keys, sealed, LICENCE_PLACE);
  if (sealed !== null && token === undefined) log.warn('the licence cannot be unsealed: is a sealing key lost?');
  const installedBy = by === null ? undefined : { id: by, name: name ?? '' };
  return { token, installedAt: row.installed_at ?? undefined, installedBy };
}

async function noteDeclared(db: Db, token: string): Promise<void> {
  const hash = sha256(token);
  await db('plus_licence')
    .whereRaw('declared_sha256 is distinct from ?', [hash])
    .update({ declared_sha256: hash, declared_at: db.fn.now() });
}

/** The present time of the database clock, without a query. */
export const databaseNowMs = (held: Held): number => held.readAtMs + (performance.now() - held.readAt);

export interface Plus {
  /** State now: signature and time are checked again each minute, and at once after a message. */
  current(): Promise<Judged & { held?: Held }>;
  /** Invalidates the cached licence here and on the other pods. */
  changed(): Promise<void>;
}

const kept = new WeakMap<Config, Plus>();

/** The instance of this process, created at first use. */
export function plusOf(deps: PlusDeps): Plus {
  const known = kept.get(deps.config);
  if (known) return known;
  const made = deps.config.plusVerifier ? licensed(deps) : open;
  kept.set(deps.config, made);
  return made;
}

const open: Plus = { current: async () => ({ state: 'open' }), changed: async () => undefined };

function licensed(deps: PlusDeps): Plus {
  let held: Promise<Held> | undefined;
  let until = 0;
  const forget = (): void => {
    held = undefined;
  };
  const subscriber = deps.redis.duplicate({ enableOfflineQueue: true });
  subscriber.on('error', () => undefined); // connectRedis logs a lost connection
  subscriber.on('ready', () => void subscriber.subscribe(CHANNEL).then(forget, () => undefined));
  subscriber.on('message', forget);
  deps.draining.addEventListener('abort', () => subscriber.disconnect());
  return {
    async current() {
      if (!held || Date.now() > until) {
        const fresh = holdLicence(deps);
        held = fresh;
        until = Date.now() + CACHED_MS;
        fresh.catch(() => held === fresh && forget());
      }
      const now = await held;
      return { ...judge(now.licence, databaseNowMs(now)), held: now };
    },
    async changed() {
      forget();
      await announcePlus(deps.redis);
    },
  };
}

/** Notifies every pod and worker; without Redis they read the change within a minute. */
export async function announcePlus(redis: Redis): Promise<void> {
  await redis.publish(CHANNEL, '').catch(() => 0);
}

/** 402 while the feature is closed. For operations that need it only with a part of their body; the others declare `plus`. */
export async function requirePlus(deps: PlusDeps, feature: PlusFeature): Promise<void> {
  if (opens(await plusOf(deps).current(), feature)) return;
  throw new ApiError('PLUS_REQUIRED', 'This needs Foyer Plus', { feature });
}

/** 402 for an operation that always needs its feature. */
export async function refuseClosed(
  { plus }: { plus?: PlusFeature | { partly: PlusFeature } },
  deps: PlusDeps,
): Promise<void> {
  if (typeof plus === 'string') await requirePlus(deps, plus);
}
