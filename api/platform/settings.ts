import { z } from 'zod';
import type { Config } from './config.ts';
import type { Db } from './db.ts';
import type { Log } from './log.ts';
import type { Redis } from './redis.ts';

const LOCAL_RANGES = [
  '10.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
];

const Rung = z.object({
  id: z.string(),
  label: z.string(),
  height: z.int(),
  videoBitrate: z.int(),
  audioBitrate: z.int(),
});
export type Rung = z.output<typeof Rung>;

const rung = (id: string, height: number, videoBitrate: number): Rung => ({
  id,
  label: height ? `${height}p ${Number((videoBitrate / 1e6).toFixed(1))} Mbit/s` : 'Audio only',
  height,
  videoBitrate,
  audioBitrate: height >= 1080 ? 256_000 : height >= 480 ? 160_000 : 128_000,
});

/** Bits a second, highest first (area Playback, getPlaybackCapabilities). */
const LADDER = [
  rung('2160p-40m', 2160, 40_000_000),
  rung('2160p-20m', 2160, 20_000_000),
  rung('1080p-12m', 1080, 12_000_000),
  rung('1080p-8m', 1080, 8_000_000),
  rung('1080p-4m', 1080, 4_000_000),
  rung('720p-3m', 720, 3_000_000),
  rung('480p-1m5', 480, 1_500_000),
  rung('360p-0m8', 360, 800_000),
  { id: 'audio-0m2', label: 'Audio only', height: 0, videoBitrate: 0, audioBitrate: 200_000 },
];

/** Keys that code reads so far, by the names, bounds and defaults of area Settings. */
export const settingTable = {
  'server.name': z.string().min(1).max(60).default('Foyer'),
  'server.publicUrl': z.url().nullable().default(null),
  'server.country': z.string().nullable().default(null),
  'server.language': z.string().default('en'),
  'server.timeZone': z.string().default('UTC'),
  'server.notice': z.string().max(200).nullable().default(null),
  'network.localRanges': z.array(z.string()).max(50).default(LOCAL_RANGES),
  'network.trustedProxies': z.array(z.string()).max(50).default([]),
  'network.offline': z.boolean().default(false),
  'network.corsOrigins': z.array(z.string()).max(20).default([]),
  'auth.password.enabled': z.boolean().default(true),
  'auth.password.minLength': z.int().min(8).max(64).default(8),
  'auth.sessionMaxDays': z.int().min(1).max(3650).default(365),
  'playback.maxStreams': z.int().min(1).max(10_000).nullable().default(null),
  'playback.watchedPercent': z.int().min(50).max(99).default(90),
  'playback.ladder': z.array(Rung).min(1).max(20).default(LADDER),
  'playback.defaults': z.record(z.string(), z.unknown()).default({}),
  'playback.preroll': z.record(z.string(), z.unknown()).nullable().default(null),
  'transcode.hardware': z.enum(['auto', 'nvenc', 'qsv', 'vaapi', 'off']).default('auto'),
  'transcode.maxWorkers': z.int().min(0).max(64).default(4),
  'transcode.cacheBytes': z
    .int()
    .min(0)
    .default(50 * 2 ** 30),
  'metadata.language': z.string().nullable().default(null),
  'subtitles.model': z.string().default('base'),
  'scan.concurrent': z.int().min(1).max(16).default(2),
} as const satisfies Record<string, z.ZodType>;

export type SettingKey = keyof typeof settingTable;
export type SettingValue<K extends SettingKey> = z.output<(typeof settingTable)[K]>;

export interface Settings {
  /** The value in force: resource, saved, environment, default. From memory. */
  get<K extends SettingKey>(key: K): SettingValue<K>;
  /** Reads the saved rows again; also done every 30 s and at a Redis message. */
  reload(): Promise<void>;
  stop(): void;
}

const CHANNEL = 'foyer:settings';

/** Saves in the caller's transaction; tell the others by `announceSettings` after its commit. */
export async function saveSettings(
  db: Db,
  values: Partial<Record<SettingKey, unknown>>,
  byAccountId: string | null,
): Promise<void> {
  for (const [key, value] of Object.entries(values)) {
    const row = {
      key,
      value: JSON.stringify(settingTable[key as SettingKey].parse(value)),
      updated_at: new Date(),
      updated_by: byAccountId,
    };
    await db('settings').insert(row).onConflict('key').merge();
  }
}

export async function announceSettings(redis: Redis): Promise<void> {
  await redis.publish(CHANNEL, '').catch(() => 0); // without Redis the others look within 30 s
}

type Values = { [K in SettingKey]: SettingValue<K> };

/** Each key from the first source that has a good value for it, else its default. */
function inForce(sources: readonly Record<string, unknown>[]): Values {
  const values = Object.entries(settingTable).map(([key, schema]) => {
    const good = sources
      .filter((source) => Object.hasOwn(source, key))
      .map((source) => schema.safeParse(source[key]))
      .find((parsed) => parsed.success);
    return [key, good ? good.data : schema.parse(undefined)];
  });
  return Object.fromEntries(values) as Values;
}

export function createSettings({
  config,
  db,
  redis,
  log,
}: {
  config: Config;
  db: Db;
  redis: Redis;
  log: Log;
}): Settings {
  const environment: Partial<Record<SettingKey, unknown>> = {
    'server.name': config.serverName,
    ...(config.trustedProxies.length > 0 ? { 'network.trustedProxies': config.trustedProxies } : {}),
  };
  let values = inForce([config.declaredSettings, environment]);
  const reload = async (): Promise<void> => {
    const rows = await db('settings').select<{ key: string; value: unknown }[]>('key', 'value');
    const saved = Object.fromEntries(rows.map((row) => [row.key, row.value]));
    values = inForce([config.declaredSettings, saved, environment]);
  };
  const quietly = (): void =>
    void reload().catch((error: Error) => log.debug({ err: error.message }, 'settings not read'));
  const timer = setInterval(quietly, 30_000);
  timer.unref();
  const subscriber = redis.duplicate({ enableOfflineQueue: true });
  subscriber.on('error', () => undefined); // connectRedis's log tells of a lost server
  subscriber.subscribe(CHANNEL).catch(() => undefined);
  subscriber.on('message', quietly);
  return {
    get: (key) => values[key],
    reload,
    stop() {
      clearInterval(timer);
      subscriber.disconnect();
    },
  };
}
