// What was seen of the server -> its conditions. Pure.
import { backupStatus, backupVerdict, type ObservedBackup } from '../backup-verdict.ts';
import type { ObservedDeclared } from '../declared/bodies.ts';
import { declaredVerdicts } from '../declared/verdict.ts';
import { plusSaid } from '../plus-environment.ts';
import type { Reason, Verdict } from '../schemas/conditions.ts';
import { asksForPlugins, type MediaServerSpec, type MediaServerStatus } from '../schemas/media-server.ts';
import type { ChildState } from './child.ts';
import type { Role } from './process-spec.ts';

export interface ObservedProcess {
  name: string;
  role: Role;
  state: ChildState;
  restarts: number;
  lastEnd: string | undefined;
  /** It answers, or the process that it replaces still does. */
  served: boolean;
}

/** True, or what is wrong. */
export type Health = true | string;

export interface Seen {
  database: Health;
  redis: Health;
  objects: Health;
  /** 'pending', 'applied', or the fault of the last attempt: 'not-backed-up' where the backup before it failed. */
  migrations: { state: 'pending' | 'applied' | 'failed' | 'not-backed-up'; message: string };
  processes: ObservedProcess[];
  replacing: boolean;
  /** The API answers its readiness check. */
  apiReady: boolean;
  version: string | undefined;
  /** Check name to state, as GET /server/health says. */
  health: Record<string, string>;
  /** Absent while nobody says. */
  backup?: ObservedBackup;
  /** What came of spec.declared; absent while the server was not asked. */
  declared?: ObservedDeclared;
  /** Transcode workers that reported to Redis within the last ten seconds. */
  transcodeWorkers: number;
  ffmpeg: boolean;
  /** What is wrong with the space of the data directory. */
  disk: string | undefined;
  /** What is wrong in the files. */
  problems: string[];
  /** The files are not in force at all because of them; else single libraries or tuners are not. */
  refused: boolean;
}

const verdict = (type: string, reason: Reason, message: string): Verdict => ({ type, status: 'True', reason, message });
const not = (type: string, reason: Reason, message: string): Verdict => ({ type, status: 'False', reason, message });

const judge = (type: string, health: Health, fault: Reason): Verdict =>
  health === true ? verdict(type, 'Connected', 'It answers') : not(type, fault, health);

export function serverVerdicts(spec: MediaServerSpec, seen: Seen): Verdict[] {
  const parts = [
    judge('DatabaseReady', seen.database, 'DatabaseUnreachable'),
    judge('RedisReady', seen.redis, 'RedisUnreachable'),
    judge('ObjectsReady', seen.objects, 'ObjectsUnreachable'),
    migrations(seen),
    transcode(spec, seen),
    settings(seen),
  ];
  const optional = [parser(), subtitles(spec, seen), ingress(spec), ...notServed(spec, seen)];
  return [ready(spec, seen), progressing(spec, seen), degraded(parts, seen), ...parts, ...optional];
}

function ready(spec: MediaServerSpec, seen: Seen): Verdict {
  if (seen.database !== true) return not('Ready', 'DatabaseUnreachable', seen.database);
  if (seen.migrations.state !== 'applied') return migrations(seen, 'Ready');
  if (!seen.apiReady) return not('Ready', apiFault(seen), faultOf(seen, 'api') ?? 'the API does not answer yet');
  return verdict('Ready', 'AllReady', `${readyCount(seen, 'api')} of ${spec.api.replicas} API processes answer`);
}

const apiFault = (seen: Seen): Reason => (faultOf(seen, 'api') ? 'CrashLooping' : 'Starting');

export const readyCount = (seen: Seen, role: Role): number =>
  seen.processes.filter((process) => process.role === role && process.served).length;

function faultOf({ processes }: Seen, role?: Role): string | undefined {
  const down = processes.find((process) => process.state === 'backoff' && (!role || process.role === role));
  return (
    down &&
    `${down.name} ended (${down.lastEnd}) and was started ${down.restarts} times again; see logs/${down.name}.log`
  );
}

function progressing(spec: MediaServerSpec, seen: Seen): Verdict {
  if (spec.suspend) return not('Progressing', 'Suspended', 'spec.suspend is set');
  const starting = seen.processes.filter(({ state }) => state === 'starting').map(({ name }) => name);
  if (starting.length > 0) return verdict('Progressing', 'Starting', `${starting.join(', ')} start`);
  if (seen.replacing) return verdict('Progressing', 'Reconciling', 'Replaced processes are leaving');
  if (seen.migrations.state === 'pending') return verdict('Progressing', 'MigrationPending', seen.migrations.message);
  return not('Progressing', 'Stable', 'Nothing changes');
}

const LOST_KEY =
  'Some secrets of the server open by no key of keys.json: put the lost key back, or enter them again; the notification to those who manage settings names them';

function degraded(parts: readonly Verdict[], seen: Seen): Verdict {
  const looping = faultOf(seen);
  if (looping) return verdict('Degraded', 'CrashLooping', looping);
  const fault = parts.find(({ status }) => status === 'False');
  if (!fault && seen.disk !== undefined) return verdict('Degraded', 'DiskLow', seen.disk);
  if (!fault && seen.health.keys === 'degraded') return verdict('Degraded', 'SealedKeyMismatch', LOST_KEY);
  if (!fault) return not('Degraded', 'AllReady', 'Every part works');
  return verdict('Degraded', fault.reason, `${fault.type}: ${fault.message}`);
}

function migrations({ migrations: { state, message } }: Seen, type = 'MigrationsApplied'): Verdict {
  if (state === 'applied') return verdict(type, 'Completed', message);
  const faults = { failed: 'MigrationFailed', 'not-backed-up': 'BackupFailed', pending: 'MigrationPending' } as const;
  return not(type, faults[state], message);
}

function transcode({ transcode: { max, warm } }: MediaServerSpec, seen: Seen): Verdict {
  const type = 'TranscodeReady';
  if (max === 0) return not(type, 'NoneAsked', 'spec.transcode.max is 0');
  if (!seen.ffmpeg) return not(type, 'NotServed', 'ffmpeg and ffprobe are not on the PATH: install them');
  const running = readyCount(seen, 'transcode');
  if (warm === 0 && !seen.processes.some(({ role }) => role === 'transcode'))
    return verdict(type, 'ScaledToZero', 'A worker starts when a session waits for one');
  if (running === 0) return not(type, 'Starting', faultOf(seen, 'transcode') ?? 'no transcode worker runs yet');
  if (seen.transcodeWorkers === 0) return not(type, 'Starting', 'no transcode worker has reported yet');
  return verdict(type, 'Running', `${seen.transcodeWorkers} transcode workers wait or work`);
}

function settings({ problems, refused }: Seen): Verdict {
  if (problems.length === 0) return verdict('SettingsValid', 'Valid', 'The files are in force');
  return not(
    'SettingsValid',
    'FileInvalid',
    `${refused ? 'The state before stays in force' : 'These resources stay as they were'}: ${problems.join('; ')}`.slice(
      0,
      32_000,
    ),
  );
}

function subtitles(spec: MediaServerSpec, seen: Seen): Verdict {
  const type = 'SubtitlesReady';
  if (!spec.subtitles) return not(type, 'NoneAsked', 'spec.subtitles is absent');
  if (seen.health.subtitles === 'ok') return verdict(type, 'Running', 'The speech model answers');
  return not(type, 'NotServed', `speech workers: ${seen.health.subtitles ?? 'unknown'}`);
}

/** No pods to keep it apart in: each is a child without network, environment and writing. */
const parser = (): Verdict =>
  verdict('ParserReady', 'Running', 'jailed children of the API and the workers open pictures');

function ingress(spec: MediaServerSpec): Verdict {
  const type = 'IngressReady';
  if (!spec.ingress && !spec.gateway) return not(type, 'NoneAsked', 'neither spec.ingress nor spec.gateway is set');
  return not(type, 'NotServed', 'on one machine the server listens on loopback alone; put a proxy before it');
}

/** Asked for, and nothing here does it. */
function notServed(spec: MediaServerSpec, { backup: seen, declared: told }: Seen): Verdict[] {
  const { plugins, backup, plus, branding, declared } = spec;
  const asked = {
    PluginsReady: asksForPlugins(plugins),
  };
  const types = Object.entries(asked).filter(([, wanted]) => wanted);
  const said = types.map(([type]) => not(type, 'NotServed', 'this version does not do it on one machine yet'));
  said.push(...declaredVerdicts(declared, told));
  if (backup || seen) said.push(backupVerdict({ backup }, seen));
  if (plus) said.push(plusVerdict({ plus }));
  if (!branding) return said;
  return [...said, verdict('BrandingReady', 'Valid', `ConfigMap ${branding.configMapRef.name} is in force`)];
}

const plusVerdict = (spec: Pick<MediaServerSpec, 'plus'>): Verdict => verdict('PlusReady', 'Valid', plusSaid(spec));

/** The rest of the status; counts of resources are the caller's. */
export function serverStatus(spec: MediaServerSpec, seen: Seen, url: string): Omit<MediaServerStatus, 'conditions'> {
  const jobs = seen.processes.filter(({ role }) => role === 'transcode').length;
  return {
    phase: seen.apiReady ? 'Running' : 'Starting',
    ...(seen.version !== undefined && { version: seen.version }),
    url,
    ...backupStatus(seen.backup),
    apiReady: `${readyCount(seen, 'api')}/${spec.api.replicas}`,
    replicas: seen.processes.filter(({ role }) => role === 'api').length,
    transcode: {
      jobs,
      warm: readyCount(seen, 'transcode'),
      ...(spec.transcode.accelerator && { accelerator: spec.transcode.accelerator.kind }),
    },
  };
}
