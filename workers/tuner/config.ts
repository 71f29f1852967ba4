import { z } from 'zod';
import { type Config, parseEnvironment, readConfig } from '#platform/config.ts';

const json = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'not JSON' });
    return z.NEVER;
  }
});

const globs = z.array(z.string()).default([]);

/** The parts of a TunerDevice's spec that the pod uses; addresses with a credential come as FOYER_TUNER_URL. */
const Spec = z.object({
  displayName: z.string().optional(),
  source: z.object({
    hdhomerun: z.object({ address: z.string().optional(), deviceId: z.string().optional() }).optional(),
    m3u: z
      .object({ url: z.string().optional(), maxStreams: z.number().int().default(1), userAgent: z.string().optional() })
      .optional(),
  }),
  channels: z
    .object({ include: globs, exclude: globs, numbering: z.enum(['source', 'sequential']).default('source') })
    .prefault({}),
});
export type TunerSpec = z.output<typeof Spec>;

/** Home networks, where tuners are. */
const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7'];

const Environment = z.object({
  FOYER_TUNER_SPEC: json.pipe(Spec),
  FOYER_TUNER_URL: z.url().optional(),
  /** CIDRs in which the device may be, besides the internet, in place of home networks. */
  FOYER_TUNER_NETWORKS: json.pipe(z.array(z.string())).prefault('[]'),
  /** How often a playlist is checked; a device is checked in every round. */
  FOYER_TUNER_PROBE_SECONDS: z.coerce.number().min(0).max(86_400).default(300),
  FOYER_TUNER_REFRESH_HOURS: z.coerce.number().min(0.001).max(168).default(24),
  FOYER_HOST: z.string().default('127.0.0.1'),
  FOYER_PORT: z.coerce.number().int().min(0).max(65535).default(8081),
  FOYER_METRICS_PORT: z.coerce.number().int().min(0).max(65535).default(0),
  /** Row of the tuner; with it and the stores' environment the process receives streams. */
  FOYER_TUNER_ID: z.uuid().optional(),
  FOYER_DATABASE_URL: z.string().optional(),
  /** Folder and size of the process's own space for segments that the object store has not taken. */
  FOYER_TUNER_SPACE: z.string().default('/tmp/foyer-live'),
  FOYER_TUNER_SPACE_BYTES: z.coerce
    .number()
    .int()
    .min(1 << 20)
    .default(2 * 2 ** 30),
  /** How long a process that has to leave goes on with streams that only it can receive, until another one of its tuner waits. */
  FOYER_TUNER_LEAVE_SECONDS: z.coerce.number().min(0).max(600).default(0),
  FOYER_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
});

export interface TunerConfig {
  spec: TunerSpec;
  /** Address of the playlist. */
  url: string | undefined;
  /** Home networks, unless the resource names others. */
  home: readonly string[];
  /** CIDRs that the resource names: nothing closes them, and internal names of the cluster are allowed. */
  networks: string[];
  probeMs: number;
  refreshMs: number;
  host: string;
  port: number;
  metricsPort: number;
  logLevel: string;
  /** Row of the tuner and the stores; absent in a process that only polls. */
  streams: { tunerId: string; stores: Config; space: { folder: string; bytes: number }; leaveMs: number } | undefined;
}

/** Throws with the names of invalid variables, never with values. */
export function readTunerConfig(environment: NodeJS.ProcessEnv = process.env): TunerConfig {
  const e = parseEnvironment(Environment, environment);
  return {
    spec: e.FOYER_TUNER_SPEC,
    url: e.FOYER_TUNER_URL ?? e.FOYER_TUNER_SPEC.source.m3u?.url,
    home: e.FOYER_TUNER_NETWORKS.length > 0 ? [] : PRIVATE,
    networks: e.FOYER_TUNER_NETWORKS,
    probeMs: e.FOYER_TUNER_PROBE_SECONDS * 1000,
    refreshMs: e.FOYER_TUNER_REFRESH_HOURS * 3_600_000,
    host: e.FOYER_HOST,
    port: e.FOYER_PORT,
    metricsPort: e.FOYER_METRICS_PORT,
    logLevel: e.FOYER_LOG_LEVEL,
    streams:
      e.FOYER_TUNER_ID && e.FOYER_DATABASE_URL
        ? {
            tunerId: e.FOYER_TUNER_ID,
            stores: readConfig(environment),
            space: { folder: e.FOYER_TUNER_SPACE, bytes: e.FOYER_TUNER_SPACE_BYTES },
            leaveMs: e.FOYER_TUNER_LEAVE_SECONDS * 1000,
          }
        : undefined,
  };
}
