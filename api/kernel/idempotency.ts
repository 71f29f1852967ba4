import { createHash, randomUUID } from 'node:crypto';
import type { Db } from '#platform/db.ts';
import type { Call, Release } from './endpoint.ts';
import { conflict, invalid } from './errors.ts';

/** The `Idempotency-Key` of a creating POST, when present. */
export function idempotencyKey(call: Call): string | undefined {
  const key = call.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(key)) return key;
  throw invalid(['headers', 'idempotency-key'], 'invalid_format', '1-64 of A-Z a-z 0-9 . _ -');
}

interface Once {
  operation: string;
  key: string;
  /** Content of the request: params, query and body. */
  content: unknown;
  /** Members of the answer that are not stored. */
  unrepeated?: readonly string[];
}

/**
 * Runs `work` once for the account, operation and key within 24 hours, in the transaction of the caller. A repeat gets the answer
 * of the first request. Throws 409 `key-reused` for other content, `in-progress` while the first request runs.
 */
export async function once<T>(call: Call, request: Once, work: () => Promise<T>): Promise<T> {
  const { db, who } = call;
  const content = createHash('sha256').update(JSON.stringify(request.content)).digest('hex');
  const where = whereOf(who.accountId, request);
  if (!(await locked(db, Object.values(where).join('|')))) throw conflict('in-progress', 'The first call still runs');
  const kept = await keptAnswer<T>(db, where);
  if (kept && kept.content !== content) throw conflict('key-reused', 'The key was used for other content');
  if (kept) {
    call.reply.status(200);
    return kept.answer;
  }
  const answer = await work();
  const row = {
    ...where,
    content,
    answer: JSON.stringify(without(answer, request.unrepeated)),
    created_at: new Date(),
  };
  await db('idempotency_keys').insert(row).onConflict(['account_id', 'operation', 'key']).merge();
  return answer;
}

/** A claim whose process died ends so long after its last renewal. */
const CLAIM_MS = 20_000;
const RENEWAL_MS = 4000;
const RENEW = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0`;
const LET_GO = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`;

/**
 * Holds the key over work that runs before the transaction, where `once` does not see it yet, until the returned function.
 * Throws 409 `in-progress` while another request has it. Without Redis, `once` alone protects the key.
 */
export async function claimKey({ deps, who }: Call, request: Once): Promise<Release> {
  const { redis } = deps;
  const name = `idempotency:${Object.values(whereOf(who.accountId, request)).join('|')}`;
  const mine = randomUUID();
  const taken = await redis.set(name, mine, 'PX', CLAIM_MS, 'NX').catch(() => 'OK');
  if (!taken) throw conflict('in-progress', 'The first call still runs');
  const renewal = setInterval(() => {
    redis.eval(RENEW, 1, name, mine, CLAIM_MS).catch(() => 0);
  }, RENEWAL_MS);
  return () => {
    clearInterval(renewal);
    return redis.eval(LET_GO, 1, name, mine).catch(() => 0);
  };
}

/** Whether a request of this key was answered in the last 24 hours. */
export async function isRepeat({ db, who }: Call, request: Once): Promise<boolean> {
  return (await keptAnswer(db, whereOf(who.accountId, request))) !== undefined;
}

type Where = Record<'account_id' | 'operation' | 'key', string>;

const whereOf = (accountId: string, { operation, key }: Once): Where => ({ account_id: accountId, operation, key });

async function keptAnswer<T>(db: Db, where: Where): Promise<{ content: string; answer: T } | undefined> {
  return db('idempotency_keys')
    .where(where)
    .whereRaw(`created_at > now() - interval '24 hours'`)
    .first<{ content: string; answer: T } | undefined>('content', 'answer');
}

async function locked(db: Db, name: string): Promise<boolean> {
  const found = await db.raw<{ rows: { got: boolean }[] }>(
    'select pg_try_advisory_xact_lock(hashtextextended(?, 7)) as got',
    [name],
  );
  return found.rows[0]?.got === true;
}

function without<T>(answer: T, members: readonly string[] = []): T {
  if (members.length === 0) return answer;
  return Object.fromEntries(Object.entries(answer as object).filter(([name]) => !members.includes(name))) as T;
}
