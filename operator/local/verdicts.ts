// Observed state of the server -> its conditions. Pure.
import { backupStatus, backupVerdict, type ObservedBackup } from '../backup-verdict.ts';
import type { ObservedDeclared } from '../declared/bodies.ts';
import type { ObservedBuckets } from '../declared/buckets.ts';
import { bucketsVerdict } from '../declared/buckets-verdict.ts';
import { declaredVerdicts } from '../declared/verdict.ts';
import { plusMessage } from '../plus-environment.ts';
import type { Reason, Verdict } from '../schemas/conditions.ts';
import { declaresPlugins, type MediaServerSpec, type MediaServerStatus } from '../schemas/media-server.ts';
import {
  type ObservedSpeech,
  readyVerdict,
  type Subtitles,
  speechStatus,
  unavailableVerdict,
} from '../speech/reports.ts';
import type { ChildState } from './child.ts';
import type { Role } from './process-spec.ts';

export interface ObservedProcess {
  name: string;
  role: Role;
  state: ChildState;
  restarts: number;
  lastEnd: string | undefined;
  /** It is ready, or the process that it replaces still is. */
  served: boolean;
}

/** True, or the error. */
export type Health = true | string;

export interface Observed {
  database: Health;
  redis: Health;
  objects: Health;
  /**
   * 'pending', 'applied', or the failure of the last attempt: 'not-backed-up' when the backup before the migration failed.
   */
  migrations: { state: 'pending' | 'applied' | 'failed' | 'not-backed-up'; message: string };
  processes: ObservedProcess[];
  replacing: boolean;
  /** The API's readiness check succeeds. */
  apiReady: boolean;
  version: string | undefined;
  /** State by name of the check, from GET /server/health. */
  health: Record<string, string>;
  /** Absent while the server does not report it. */
  backup?: ObservedBackup;
  /** Result of spec.declared; absent before the first pass. */
  declared?: ObservedDeclared;
  /** Storages of spec.media[].s3; absent before the first pass. */
  buckets?: ObservedBuckets;
  /** Transcode workers that reported to Redis within the last ten seconds. */
  transcodeWorkers: number;
  speech: ObservedSpeech;
  ffmpeg: boolean;
  /** The problem with the disk space of the data directory. */
  disk: string | undefined;
  /** Problems in the files. */
  problems: string[];
  /** The files are not in force at all; otherwise only single libraries or tuners are not. */
  refused: boolean;
}

const verdict = (type: string, reason: Reason, message: string): Verdict => ({ type, status: 'True', reason, message });
const not = (type: string, reason: Reason, message: string): Verdict => ({ type, status: 'False', reason, message });

const judge = (type: string, health: Health, fault: Reason): Verdict =>
  health === true ? verdict(type, 'Connected', 'It answers') : not(type, fault, health);

export function serverVerdicts(spec: MediaServerSpec, observed: Observed): Verdict[] {
  const parts = [
    judge('DatabaseReady', observed.database, 'DatabaseUnreachable'),
    judge('RedisReady', observed.redis, 'RedisUnreachable'),
    judge('ObjectsReady', observed.objects, 'ObjectsUnreachable'),
    migrations(observed),
    transcode(spec, observed),
    settings(observed),
    ...media(spec, observed),
  ];
  const speech = subtitles(spec, observed);
  const optional = [parser(), speech, ingress(spec), ...notServed(spec, observed)];
  const judged = NO_MODEL.includes(speech.reason) ? [...parts, speech] : parts;
  return [ready(spec, observed), progressing(spec, observed), degraded(judged, observed), ...parts, ...optional];
}

function ready(spec: MediaServerSpec, observed: Observed): Verdict {
  if (observed.database !== true) return not('Ready', 'DatabaseUnreachable', observed.database);
  if (observed.migrations.state !== 'applied') return migrations(observed, 'Ready');
  if (!observed.apiReady)
    return not('Ready', apiFault(observed), faultOf(observed, 'api') ?? 'the API does not answer yet');
  return verdict('Ready', 'AllReady', `${readyCount(observed, 'api')} of ${spec.api.replicas} API processes answer`);
}

const apiFault = (observed: Observed): Reason => (faultOf(observed, 'api') ? 'CrashLooping' : 'Starting');

export const readyCount = (observed: Observed, role: Role): number =>
  observed.processes.filter((process) => process.role === role && process.served).length;

function faultOf({ processes }: Observed, role?: Role): string | undefined {
  const down = processes.find((process) => process.state === 'backoff' && (!role || process.role === role));
  return down && `${down.name} ended (${down.lastEnd}) and restarted ${down.restarts} times; see logs/${down.name}.log`;
}

function progressing(spec: MediaServerSpec, observed: Observed): Verdict {
  if (spec.suspend) return not('Progressing', 'Suspended', 'spec.suspend is set');
  const starting = observed.processes.filter(({ state }) => state === 'starting').map(({ name }) => name);
  if (starting.length > 0) return verdict('Progressing', 'Starting', `${starting.join(', ')} start`);
  if (observed.replacing) return verdict('Progressing', 'Reconciling', 'Replaced processes are ending');
  if (observed.migrations.state === 'pending')
    return verdict('Progressing', 'MigrationPending', observed.migrations.message);
  return not('Progressing', 'Stable', 'Nothing changes');
}

const LOST_KEY =
  'Some sealed secrets of the server match no key of keys.json: restore the lost key, or enter the secrets again; a notification to settings managers names them';

function degraded(parts: readonly Verdict[], observed: Observed): Verdict {
  const looping = faultOf(observed);
  if (looping) return verdict('Degraded', 'CrashLooping', looping);
  const fault = parts.find(({ status }) => status === 'False');
  if (!fault && observed.disk !== undefined) return verdict('Degraded', 'DiskLow', observed.disk);
  if (!fault && observed.health.keys === 'degraded') return verdict('Degraded', 'SealedKeyMismatch', LOST_KEY);
  if (!fault) return not('Degraded', 'AllReady', 'Every part works');
  return verdict('Degraded', fault.reason, `${fault.type}: ${fault.message}`);
}

function migrations({ migrations: { state, message } }: Observed, type = 'MigrationsApplied'): Verdict {
  if (state === 'applied') return verdict(type, 'Completed', message);
  const faults = { failed: 'MigrationFailed', 'not-backed-up': 'BackupFailed', pending: 'MigrationPending' } as const;
  return not(type, faults[state], message);
}

/** Of the buckets; each library reports its folders on this machine. */
function media(spec: MediaServerSpec, { buckets }: Observed): Verdict[] {
  const type = 'MediaReady';
  const fault = bucketsVerdict(spec, buckets);
  if (fault) return [{ type, ...fault }];
  return spec.media.some(({ s3 }) => s3) ? [verdict(type, 'Valid', 'The server reads every bucket')] : [];
}

function transcode({ transcode: { max, warm } }: MediaServerSpec, observed: Observed): Verdict {
  const type = 'TranscodeReady';
  if (max === 0) return not(type, 'NoneAsked', 'spec.transcode.max is 0');
  if (!observed.ffmpeg) return not(type, 'NotServed', 'ffmpeg and ffprobe are not on the PATH: install them');
  const running = readyCount(observed, 'transcode');
  if (warm === 0 && !observed.processes.some(({ role }) => role === 'transcode'))
    return verdict(type, 'ScaledToZero', 'A worker starts when a session waits for one');
  if (running === 0) return not(type, 'Starting', faultOf(observed, 'transcode') ?? 'no transcode worker runs yet');
  if (observed.transcodeWorkers === 0) return not(type, 'Starting', 'no transcode worker has reported yet');
  return verdict(type, 'Running', `${observed.transcodeWorkers} transcode workers run`);
}

function settings({ problems, refused }: Observed): Verdict {
  if (problems.length === 0) return verdict('SettingsValid', 'Valid', 'The files are in force');
  return not(
    'SettingsValid',
    'FileInvalid',
    `${refused ? 'The last valid state stays in force' : 'These resources are unchanged'}: ${problems.join('; ')}`.slice(
      0,
      32_000,
    ),
  );
}

function subtitles({ subtitles: wanted }: MediaServerSpec, observed: Observed): Verdict {
  const type = 'SubtitlesReady';
  if (!wanted) return not(type, 'NoneAsked', 'spec.subtitles is absent');
  if (wanted.replicas === 0) return not(type, 'NoneAsked', 'spec.subtitles.replicas is 0: no worker makes subtitles');
  const isEmpty = !observed.processes.some(({ role }) => role === 'speech');
  if (isEmpty && wanted.scaleToZero)
    return verdict(type, 'ScaledToZero', 'No request waits: a worker starts with the next');
  return speechWorkers(wanted, observed);
}

function speechWorkers(wanted: Subtitles, observed: Observed): Verdict {
  const type = 'SubtitlesReady';
  const { workers } = observed.speech;
  const why = wanted.accelerator && workers[0]?.device === 'cpu' ? 'the GPU does not run the model' : undefined;
  const found = readyVerdict(workers, { why, where: 'process' }) ?? unavailableVerdict(workers, 'process');
  if (found) return { type, ...found };
  const looping = faultOf(observed, 'speech');
  return looping === undefined
    ? not(type, 'Starting', 'no speech worker has loaded its model yet')
    : not(type, 'CrashLooping', looping);
}

/** Reasons of SubtitlesReady that someone must mend. */
const NO_MODEL: readonly Reason[] = ['ModelInvalid', 'ModelMissing', 'Unavailable'];

/** There are no pods for isolation: each parser is a child without network, environment and write access. */
const parser = (): Verdict =>
  verdict('ParserReady', 'Running', 'sandboxed child processes of the API and the workers parse pictures');

function ingress(spec: MediaServerSpec): Verdict {
  const type = 'IngressReady';
  if (!spec.ingress && !spec.gateway) return not(type, 'NoneAsked', 'neither spec.ingress nor spec.gateway is set');
  return not(type, 'NotServed', 'on one machine the server listens on loopback alone; use a reverse proxy');
}

/** Features that are declared and not available on one machine. */
function notServed(spec: MediaServerSpec, { backup: observed, declared: applied }: Observed): Verdict[] {
  const { plugins, backup, plus, branding, declared } = spec;
  const unsupported = {
    PluginsReady: declaresPlugins(plugins),
  };
  const types = Object.entries(unsupported).filter(([, wanted]) => wanted);
  const verdicts = types.map(([type]) => not(type, 'NotServed', 'this version does not support it on one machine yet'));
  verdicts.push(...declaredVerdicts(declared, applied));
  if (backup || observed) verdicts.push(backupVerdict({ backup }, observed));
  if (plus) verdicts.push(plusVerdict({ plus }));
  if (!branding) return verdicts;
  return [...verdicts, verdict('BrandingReady', 'Valid', `ConfigMap ${branding.configMapRef.name} is in force`)];
}

const plusVerdict = (spec: Pick<MediaServerSpec, 'plus'>): Verdict => verdict('PlusReady', 'Valid', plusMessage(spec));

/** The status without conditions; the caller adds the counts of resources. */
export function serverStatus(
  spec: MediaServerSpec,
  observed: Observed,
  url: string,
): Omit<MediaServerStatus, 'conditions'> {
  const jobs = observed.processes.filter(({ role }) => role === 'transcode').length;
  return {
    phase: observed.apiReady ? 'Running' : 'Starting',
    ...(observed.version !== undefined && { version: observed.version }),
    url,
    ...backupStatus(observed.backup),
    ...speechStatus(spec.subtitles, observed.speech),
    apiReady: `${readyCount(observed, 'api')}/${spec.api.replicas}`,
    replicas: observed.processes.filter(({ role }) => role === 'api').length,
    transcode: {
      jobs,
      warm: readyCount(observed, 'transcode'),
      ...(spec.transcode.accelerator && { accelerator: spec.transcode.accelerator.kind }),
    },
  };
}
