// State of the request foyer.media/owner-recovery. Pure, except for the token.
import type { Fresh } from '../keys.ts';
import type { Manifest } from '../runtime/manifest.ts';
import type { Context } from './desired/context.ts';
import { labelsOf, nameOf } from './desired/meta.ts';
import { hashOf } from './desired/migrate.ts';
import { EXPIRES, RECOVERY, recoveryJob, recoverySecret, recoverySuffix } from './desired/recovery.ts';
import { childrenOf, type Observed, trueCondition } from './observed.ts';
import type { Server } from './server.ts';

export interface Recovery {
  state: 'none' | 'pending' | 'ready' | 'failed' | 'over';
  secrets: Manifest<'Secret'>[];
  jobs(context: Context): Manifest<'Job'>[];
  /** For status.recovery, while the token is valid. */
  status?: { secretName: string; expiresAt: string };
  /** Stored in the release, so that each value is handled once. */
  mark: { recovered?: string };
}

const HOURS_24_MS = 24 * 3_600_000;

const recovery = (state: Recovery['state'], mark: Recovery['mark'] = {}): Recovery => ({
  state,
  secrets: [],
  jobs: () => [],
  mark,
});

export function recoveryOf(server: Server, observed: Observed, fresh: Fresh): Recovery {
  const value = server.annotations[RECOVERY];
  if (value === undefined || !observed.release) return recovery('none');
  const hash = hashOf(value);
  if (observed.release.recovered === hash) return recovery('over');
  const name = nameOf(server, recoverySuffix(value));
  const expiresAt = observed.notes.get(name)?.[EXPIRES] ?? expiryOf(server, observed, value);
  if (expiresAt === 'failed') return recovery('failed', { recovered: hash });
  if (expiresAt !== undefined && observed.now.toISOString() >= expiresAt) return recovery('over', { recovered: hash });
  const secret = recoverySecret(server, { value, observed: observed.secrets.get(name), fresh, expiresAt });
  const pending: Recovery = {
    ...recovery('pending'),
    secrets: [secret],
    jobs: (context) => [recoveryJob(context, value)],
  };
  if (expiresAt === undefined) return pending;
  return { ...recovery('ready'), secrets: [secret], status: { secretName: name, expiresAt } };
}

/** The expiry of the token from the Job of this value, or that the Job failed; undefined while it runs. */
function expiryOf(server: Server, observed: Observed, value: string): string | undefined {
  const labels = { ...labelsOf(server, 'recovery') };
  const jobs = childrenOf(observed, 'Job').filter(({ metadata }) => {
    const ours = Object.entries(labels).every(([key, text]) => metadata.labels?.[key] === text);
    return ours && metadata.annotations?.[RECOVERY] === hashOf(value);
  });
  const complete = jobs.map((job) => trueCondition(job, 'Complete')).find(Boolean);
  if (complete) return new Date(new Date(complete.lastTransitionTime ?? 0).getTime() + HOURS_24_MS).toISOString();
  return jobs.some((job) => trueCondition(job, 'Failed')) ? 'failed' : undefined;
}
