import { handleResetRequest } from '#areas/auth/public.ts';
import {
  claim,
  dropMessage,
  type MessageRow,
  noteFault,
  noteSent,
  noteSuccess,
} from '#areas/email/messages/messages.store.ts';
import {
  BodySealed,
  bodyContent,
  contentOf,
  mailLanguage,
  mailLogos,
  mailReady,
  openOrder,
  type Smtp,
  smtpOf,
  type TestEmailAnswer,
} from '#areas/email/public.ts';
import { notify } from '#areas/notifications/public.ts';
import type { JobPayload } from '#platform/jobs.ts';
import { type Keys, ringOf, SEALED_KEY_MISMATCH } from '#platform/keys.ts';
import { filled } from '#platform/languages.ts';
import type { Work } from '../work.ts';
import { brandedDeps } from './branded.ts';
import { envelopeOf } from './envelope.ts';
import { smtpAddress } from './smtp-address.ts';
import { faultOf, type Line, SmtpFault, sendMail } from './transport.ts';

const TEST_MS = 25_000;

export interface Setting {
  clock?: () => Date;
  /** Resolves the host; addresses are checked by default. */
  resolve?: (host: string) => Promise<string>;
}

interface Post {
  work: Work;
  keys: Keys;
  clock: () => Date;
  resolve: (host: string) => Promise<string>;
}

/** Job email.send: a queued mail, a test, or a password reset. */
export function createEmailSend({ clock = () => new Date(), resolve = (host) => smtpAddress(host) }: Setting = {}) {
  return async (payload: JobPayload<'email.send'>, work: Work): Promise<unknown> => {
    const post = { work, keys: await ringOf(work.config.keysFile), clock, resolve };
    if ('messageId' in payload) return sendQueued(post, payload.messageId);
    if ('test' in payload) return sendTest(post, payload.test);
    const writing = { keys: post.keys, settings: work.settings };
    return work.db.transaction((transaction) => handleResetRequest(transaction, writing, payload));
  };
}

async function sendQueued(post: Post, id: string): Promise<void> {
  const { work, clock } = post;
  const { db, settings, jobId } = work;
  const now = clock();
  const claimed = await claim(db, {
    ...{ id, jobId, now },
    ready: mailReady({ settings }),
    links: settings.get('server.publicUrl') !== null,
    perHour: settings.get('email.perHour'),
  });
  if (claimed) await sendClaimed(post, claimed);
}

async function sendClaimed(post: Post, row: MessageRow): Promise<void> {
  const { work, keys, clock } = post;
  const { db, settings, log } = work;
  const smtp = smtpOf(settings);
  const content = await contentOf({ db, keys, settings, now: clock() }, row).catch(whenSealed);
  if (content instanceof SmtpFault) return noteFailed(post, row, content); // kept and retried: the key may come back
  if (!content || !smtp) return db.transaction((transaction) => dropMessage(transaction, row, clock()));
  const logos = await mailLogos(brandedDeps(work, keys));
  const mail = envelopeOf({ row, smtp, content, logos, origin: settings.get('server.publicUrl') });
  try {
    await deliver(post, { smtp, mail, signal: work.signal });
  } catch (error) {
    work.signal.throwIfAborted(); // released: another process sends it under the same Message-ID
    const failed = error instanceof SmtpFault ? error : faultOf(error);
    log.warn({ message: row.id, stage: failed.fault.stage, code: failed.fault.code }, 'mail not sent');
    return noteFailed(post, row, failed);
  }
  await db.transaction((transaction) => noteSent(transaction, row, clock()));
}

function whenSealed(error: unknown): SmtpFault {
  if (!(error instanceof BodySealed)) throw error;
  return new SmtpFault({ stage: 'data', code: SEALED_KEY_MISMATCH, message: error.message }, false);
}

interface Delivery {
  smtp: Smtp;
  mail: Parameters<typeof sendMail>[0]['mail'];
  signal: AbortSignal;
  transcript?: Line[];
}

async function deliver({ resolve }: Post, delivery: Delivery): Promise<string> {
  const address = await resolve(delivery.smtp.host).catch((error: unknown) => {
    throw faultOf(error);
  });
  return sendMail({ ...delivery, address });
}

async function noteFailed(post: Post, row: MessageRow, { fault, final }: SmtpFault): Promise<void> {
  const { work, clock } = post;
  await work.db.transaction(async (transaction) => {
    if (!(await noteFault(transaction, row, { fault, final, now: clock() }))) return;
    await notify(transaction, {
      kind: 'email-failing',
      data: { name: `${fault.stage} ${fault.code ?? ''}`.trim() },
      url: '/admin/email',
      mergeKey: 'email-failing',
    });
  });
}

async function sendTest(post: Post, sealed: string): Promise<TestEmailAnswer> {
  const { work, keys, clock } = post;
  const { db, settings } = work;
  const order = openOrder(keys, sealed);
  if (!order) throw new Error('the order is not sealed by our keys');
  const began = performance.now();
  const transcript: Line[] = [];
  const done = (more: Partial<TestEmailAnswer>): TestEmailAnswer => ({
    ok: false,
    transcript,
    tookMs: Math.round(performance.now() - began),
    ...more,
  });
  const row = testRow(order.to, { id: work.jobId, language: order.language, server: settings.get('server.name') });
  const sources = { db, keys, settings, now: clock() };
  const content = bodyContent(sources, row, { text: 'test', values: { server: settings.get('server.name') } });
  const logos = await mailLogos(brandedDeps(work, keys));
  const mail = envelopeOf({ row, smtp: order.smtp, content, logos, origin: null });
  const signal = AbortSignal.any([work.signal, AbortSignal.timeout(TEST_MS)]);
  try {
    const response = await deliver(post, { smtp: order.smtp, mail, signal, transcript });
    await noteSuccess(db, clock());
    return done({ ok: true, response: response.slice(0, 300) });
  } catch (error) {
    const { fault } = error instanceof SmtpFault ? error : faultOf(error);
    const { stage, code, message } = fault;
    return done({ stage, response: message, ...(code !== undefined && { code }) });
  }
}

function testRow(to: string, { id, language, server }: { id: string; language: string; server: string }) {
  const subject = filled(mailLanguage(language).own.test.subject, { server });
  return {
    ...{ id, language, subject, kind: 'test' as const, address: to, message_id: `<${id}@foyer.test>` },
    ...{ account_id: null, profile_id: null, body: null, notification_ids: [], created_at: new Date() },
  };
}
