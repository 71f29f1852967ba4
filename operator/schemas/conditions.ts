// metav1.Condition, which kstatus, `kubectl wait`, Argo CD and Flux read.
import { z } from 'zod';

/** Every reason of a condition. */
export const reasons = [
  'Accepted',
  'AccountUnknown',
  'AllReady',
  'ApiRefused',
  'ApiUnreachable',
  'BackupFailed',
  'BackupOverdue',
  'CannotChange',
  'Completed',
  'ConfigMapMissing',
  'Connected',
  'CrashLooping',
  'DatabaseUnreachable',
  'DestinationUnreachable',
  'DeviceUnreachable',
  'DirectoryNotWritable',
  'DiskLow',
  'EncoderUnavailable',
  'FellBackToCPU',
  'FileInvalid',
  'FolderMissing',
  'FoldersFound',
  'GuideRefreshed',
  'GuideStale',
  'ImageUnavailable',
  'InSync',
  'LibraryMissing',
  'LibraryNotReady',
  'MediaUnknown',
  'MigrationFailed',
  'MigrationPending',
  'ModelInvalid',
  'ModelMissing',
  'NameInvalid',
  'NameTaken',
  'NeverBackedUp',
  'NeverScanned',
  'NoAddress',
  'NoneAsked',
  'NotAccepted',
  'NotServed',
  'ObjectsUnreachable',
  'ProgressDeadlineExceeded',
  'Reconciling',
  'RecoveryFailed',
  'RecoveryReady',
  'RedisUnreachable',
  'Refused',
  'RollingOut',
  'Running',
  'ScaledToZero',
  'ScanFailed',
  'Scanning',
  'SealedKeyMismatch',
  'SecretInvalid',
  'SecretLost',
  'SecretMissing',
  'ServerNotFound',
  'ServerNotReady',
  'SpecInvalid',
  'Stable',
  'Starting',
  'Suspended',
  'Unavailable',
  'Unschedulable',
  'Valid',
  'VolumeMissing',
  'VolumeNotMounted',
  'VolumeNotShared',
  'WaitingForDatabase',
] as const;
export type Reason = (typeof reasons)[number];

export const Condition = z.object({
  type: z
    .string()
    .max(316)
    .regex(/^[A-Za-z][A-Za-z0-9]*$/)
    .describe('Type of the condition, in CamelCase.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Status of the condition.'),
  observedGeneration: z.int().min(0).optional().describe('The metadata.generation that was evaluated.'),
  lastTransitionTime: z.iso.datetime().describe('When the status last changed.'),
  reason: z
    .string()
    .min(1)
    .max(1024)
    .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/)
    .describe('Reason as one word, for programs.'),
  message: z.string().max(32_768).describe('Reason and fix, for people.'),
});
export type Condition = z.infer<typeof Condition>;

/** The list of conditions of a status. */
export const Conditions = z
  .array(Condition)
  .max(32)
  .meta({ listMapKeys: ['type'] })
  .optional()
  .describe('Conditions as observed, one of each type.');

export interface Verdict {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason: Reason;
  message: string;
}

export interface Judged {
  generation: number;
  now: Date;
}

/** Adds or replaces one condition; its time changes only with its status. */
export function setCondition(conditions: readonly Condition[], verdict: Verdict, judged: Judged): Condition[] {
  const before = conditions.find((condition) => condition.type === verdict.type);
  const since = before?.status === verdict.status ? before.lastTransitionTime : judged.now.toISOString();
  const condition: Condition = { ...verdict, observedGeneration: judged.generation, lastTransitionTime: since };
  if (!before) return [...conditions, condition];
  return conditions.map((other) => (other === before ? condition : other));
}

/** Sets the verdicts of a pass; other conditions are removed. */
export function setConditions(before: readonly Condition[], verdicts: readonly Verdict[], judged: Judged): Condition[] {
  const kept = before.filter((condition) => verdicts.some((verdict) => verdict.type === condition.type));
  return verdicts.reduce<Condition[]>((list, verdict) => setCondition(list, verdict, judged), kept);
}
