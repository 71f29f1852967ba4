import type { Context } from 'koa';
import type { Client } from '#identity/client.ts';
import { identify, presented } from '#identity/credentials.ts';
import type { Principal } from '#identity/principal.ts';
import type { Db } from '#platform/db.ts';
import type { Log } from '#platform/log.ts';
import { emit } from '#platform/outbox.ts';
import { enqueue } from '#platform/queue.ts';
import type { Call, Deps } from './endpoint.ts';

export interface Work {
  ctx: Context;
  client: Client;
  who: Principal;
  deps: Deps;
}

/** The call of one request. Outside `transact` its db is the pool. */
export function callFor(work: Work): Call {
  const { ctx, deps } = work;
  return callOn(work, deps.db, { signal: once(() => goneSignal(ctx)), log: once(() => logOf(work)), later: undefined });
}

/** Creates the value at first use, because few handlers need it. */
function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function goneSignal(ctx: Context): AbortSignal {
  const gone = new AbortController();
  ctx.res.once('close', () => {
    if (!ctx.res.writableFinished) gone.abort();
  });
  return gone.signal;
}

function logOf({ ctx, deps }: Work): Log {
  return deps.log.child({ requestId: ctx.state.requestId, operation: ctx.state.operation });
}

interface Setting {
  signal: () => AbortSignal;
  log: () => Log;
  /** Work to run after the commit; undefined outside a transaction. */
  later: (() => Promise<unknown>)[] | undefined;
}

function callOn(work: Work, db: Db, setting: Setting): Call {
  const { ctx, deps, who, client } = work;
  const quietly = (task: () => Promise<unknown>): void =>
    void task().catch((error: unknown) => setting.log().warn({ err: error }, 'follow-up failed'));
  return {
    db,
    who,
    client,
    deps,
    get log() {
      return setting.log();
    },
    now: new Date(),
    began: ctx.state.began as number,
    get signal() {
      return setting.signal();
    },
    identify: () => identifyQuietly(work),
    method: ctx.method as Call['method'],
    headers: ctx.req.headers,
    reply: {
      header: (name, value) => ctx.set(name, value),
      status: (code) => {
        ctx.state.status = code;
      },
    },
    emit: (name, payload, facts) => emit(db, name, { payload, ...(facts ? { facts } : {}) }),
    enqueue: (name, payload, options) =>
      enqueue(db, name, {
        payload,
        options: { ...(who.accountId ? { byAccountId: who.accountId } : {}), cause: causeOf(who), ...options },
      }),
    afterCommit: (task) => {
      if (setting.later) setting.later.push(task);
      else quietly(task);
    },
    transact: async (inside) => {
      if (setting.later) return inside(callOn(work, db, setting));
      const later: (() => Promise<unknown>)[] = [];
      const value = await deps.db.transaction((transaction) =>
        inside(callOn(work, transaction, { ...setting, later })),
      );
      for (const task of later) quietly(task);
      return value;
    },
  };
}

async function identifyQuietly({ ctx, client, deps }: Work): Promise<Principal | undefined> {
  const credential = presented(ctx.req.headers, client.secure);
  if (!credential) return undefined;
  return identify(deps.db, deps.keys, credential).then(
    (found) => found.who,
    () => undefined,
  );
}

function causeOf(who: Principal): 'person' | 'key' | 'resource' | 'system' {
  if (who.operator) return 'resource';
  if (who.kind === 'key') return 'key';
  return who.kind === 'session' ? 'person' : 'system';
}
