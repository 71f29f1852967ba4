// Where the answer to foyer.media/owner-recovery stands. Pure but for the token.
import type { Fresh } from '../keys.ts';
import type { KubeObject } from '../runtime/kube.ts';
import type { Context } from './desired/context.ts';
import { labelsOf, nameOf } from './desired/meta.ts';
import { hashOf } from './desired/migrate.ts';
import { EXPIRES, RECOVERY, recoveryJob, recoverySecret, recoverySuffix } from './desired/recovery.ts';
import { childrenOf, holding, type Seen } from './observed.ts';
import type { Server } from './server.ts';

export interface Recovery {
  state: 'none' | 'pending' | 'ready' | 'failed' | 'over';
  secrets: KubeObject[];
  jobs(context: Context): KubeObject[];
  /** For status.recovery, while the token can be redeemed. */
  status?: { secretName: string; expiresAt: string };
  /** Goes into the release: a value is answered once. */
  mark: { recovered?: string };
}

const HOURS_24_MS = 24 * 3_600_000;

const none = (state: Recovery['state'], mark: Recovery['mark'] = {}): Recovery => ({
  state,
  secrets: [],
  jobs: () => [],
  mark,
});

export function recoveryOf(server: Server, seen: Seen, fresh: Fresh): Recovery {
  const value = server.annotations[RECOVERY];
  if (value === undefined || !seen.release) return none('none');
  const answered = hashOf(value);
  if (seen.release.recovered === answered) return none('over');
  const name = nameOf(server, recoverySuffix(value));
  const expiresAt = seen.notes.get(name)?.[EXPIRES] ?? endOf(server, seen, value);
  if (expiresAt === 'failed') return none('failed', { recovered: answered });
  if (expiresAt !== undefined && seen.now.toISOString() >= expiresAt) return none('over', { recovered: answered });
  const secret = recoverySecret(server, { value, seen: seen.secrets.get(name), fresh, expiresAt });
  const pending: Recovery = { ...none('pending'), secrets: [secret], jobs: (context) => [recoveryJob(context, value)] };
  if (expiresAt === undefined) return pending;
  return { ...none('ready'), secrets: [secret], status: { secretName: name, expiresAt } };
}

/** Of the Job of this value: when its token ends, or that it failed; undefined while it runs. */
function endOf(server: Server, seen: Seen, value: string): string | undefined {
  const labels = { ...labelsOf(server, 'recovery') };
  const jobs = childrenOf(seen, 'Job').filter(({ metadata }) => {
    const ours = Object.entries(labels).every(([key, text]) => metadata.labels?.[key] === text);
    return ours && metadata.annotations?.[RECOVERY] === hashOf(value);
  });
  const complete = jobs.map((job) => holding(job, 'Complete')).find(Boolean);
  if (complete) return new Date(new Date(complete.lastTransitionTime ?? 0).getTime() + HOURS_24_MS).toISOString();
  return jobs.some((job) => holding(job, 'Failed')) ? 'failed' : undefined;
}
