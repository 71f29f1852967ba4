import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, invalid } from '#kernel/errors.ts';
import type { Keys } from '#platform/keys.ts';
import { seal, unseal } from '#platform/keys.ts';
import { requestCancel } from '#platform/queue.ts';
import { mailLanguage } from './content/texts.ts';
import type { TestEmail, TestEmailAnswer } from './email.schemas.ts';
import { type Smtp, smtpOf } from './smtp.ts';

const WITHIN_MS = 30_000;
const LOOK_MS = 100;
const PLACE = 'jobs|payload|email.send.test';

/** Everything that the worker needs, without the database. */
export interface TestOrder {
  smtp: Smtp;
  to: string;
  language: string;
}

export const sealOrder = (keys: Keys, order: TestOrder): string => seal(keys, JSON.stringify(order), PLACE);

export function openOrder(keys: Keys, sealed: string): TestOrder | undefined {
  const text = unseal(keys, sealed, PLACE);
  return text === undefined ? undefined : (JSON.parse(text) as TestOrder);
}

/** Lets a worker send the mail now and waits for its result. */
export async function sendTest(call: Call, body: z.output<typeof TestEmail>): Promise<TestEmailAnswer> {
  const began = performance.now();
  const { db, deps, who } = call;
  const smtp = smtpOf(deps.settings, body.settings);
  if (!smtp) throw conflict('not-configured', 'No mail server is configured or given');
  const own = await db('accounts').where({ id: who.accountId }).first('email', 'language');
  const to = body.to ?? own?.email ?? null;
  if (to === null) throw invalid(['body', 'to'], 'required', 'the account has no address of its own');
  const language = mailLanguage(own?.language ?? deps.settings.get('server.language')).tag;
  const jobId = await call.transact((inside) =>
    inside.enqueue(
      'email.send',
      { test: sealOrder(deps.keys, { smtp, to, language }) },
      { priority: 0, maxAttempts: 1, byAccountId: who.accountId },
    ),
  );
  const answer = await answered(call, jobId, began);
  return { ...answer, tookMs: Math.round(performance.now() - began) };
}

interface Done {
  state: string;
  result: TestEmailAnswer | null;
}

async function answered({ db, signal }: Call, id: string, began: number): Promise<TestEmailAnswer> {
  while (performance.now() - began < WITHIN_MS && !signal.aborted) {
    const job = await db('jobs').where({ id }).first<Done | undefined>('state', 'result');
    if (job?.result) return job.result;
    if (job && ['failed', 'cancelled'].includes(job.state)) break;
    await sleep(LOOK_MS);
  }
  await requestCancel(db, id);
  const response = 'No worker sent it within 30 seconds';
  return { ok: false, stage: 'connect', response, transcript: [], tookMs: 0 };
}
