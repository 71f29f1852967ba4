import type { Call } from '#kernel/endpoint.ts';
import { iso } from '#kernel/schemas.ts';
import type { Settings } from '#platform/settings.ts';
import type { EmailStatus } from '../email.schemas.ts';
import { readState, type StateRow } from './messages.store.ts';
import { senderOf } from './write.ts';

interface Counts {
  waiting: number;
  delayed: number;
  failed24h: number;
  sent24h: number;
  suppressed: number;
}

const COUNTS = `select
  count(*) filter (where state = 'sending' or (state = 'waiting' and coalesce(next_attempt_at <= now(), true)))::int as waiting,
  count(*) filter (where state = 'waiting' and next_attempt_at > now())::int as delayed,
  count(*) filter (where state = 'failed' and ended_at > now() - interval '24 hours')::int as "failed24h",
  count(*) filter (where state = 'sent' and sent_at > now() - interval '24 hours')::int as "sent24h",
  (select count(*)::int from email_suppressions where suppressed_at is not null) as suppressed
  from email_messages where state in ('waiting', 'sending') or ended_at > now() - interval '24 hours'`;

export async function readStatus({ db, deps, now }: Call): Promise<EmailStatus> {
  const { settings, config } = deps;
  const state = await readState(db);
  const { rows } = await db.raw<{ rows: Counts[] }>(COUNTS);
  const { suppressed = 0, ...queue } = rows[0] ?? { waiting: 0, delayed: 0, failed24h: 0, sent24h: 0 };
  const managed = settings.sourceOf('email.smtp.host') === 'resource' && config.managedBy;
  return {
    configured: settings.get('email.smtp.host') !== null && senderOf(settings) !== undefined,
    enabled: settings.get('email.enabled'),
    ...shownSettings(settings),
    ...shownState(state, now),
    queue,
    suppressed,
    publicUrl: settings.get('server.publicUrl') !== null,
    ...(managed && { managedBy: managed }),
  };
}

/** Settings for display, without user name and password. */
function shownSettings(settings: Settings): Partial<EmailStatus> {
  const host = settings.get('email.smtp.host');
  const [from, replyTo] = [settings.get('email.from'), settings.get('email.replyTo')];
  return {
    ...(host !== null && {
      host,
      port: settings.get('email.smtp.port'),
      security: settings.get('email.smtp.security'),
    }),
    ...(from !== null && { from }),
    ...(replyTo !== null && { replyTo }),
  };
}

function shownState(state: StateRow, now: Date): Pick<EmailStatus, 'paused'> & Partial<EmailStatus> {
  const { paused_until: until, last_sent_at: sentAt, last_error: lastError } = state;
  const paused = until !== null && until > now;
  return {
    paused,
    ...(paused && { pausedUntil: iso(until) }),
    ...(sentAt && { lastSentAt: iso(sentAt) }),
    ...(lastError && { lastError }),
  };
}
