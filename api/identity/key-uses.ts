import type { Db } from '#platform/db.ts';
import type { Log } from '#platform/log.ts';

interface Use {
  count: number;
  at: Date;
  address: string;
  client: string | null;
}

/** Time, count, address and client of the uses of API keys; a killed process loses at most a minute. */
export interface KeyUses {
  note(keyId: string, client: { address: string; name?: string }): void;
  flush(): Promise<void>;
  stop(): void;
}

const EVERY_MS = 60_000;
const MOST = 10_000;

/** Counts in memory and writes all keys in one statement once a minute, so that no request waits. */
export function createKeyUses(db: Db, log: Log): KeyUses {
  let uses = new Map<string, Use>();
  const flush = async (): Promise<void> => {
    if (uses.size === 0) return;
    const rows = [...uses].map(([id, { count, at, address, client }]) => ({ id, count, at, address, client }));
    uses = new Map();
    await db.raw(
      `update api_keys k set last_used_at = greatest(k.last_used_at, u.at), last_address = u.address, last_client_name = u.client,
         used_count = case when k.used_on = current_date then k.used_count else 0 end + u.count, used_on = current_date
       from jsonb_to_recordset(?::jsonb) as u(id uuid, count int, at timestamptz, address text, client text) where k.id = u.id`,
      [JSON.stringify(rows)],
    );
  };
  const timer = setInterval(() => {
    flush().catch((error: Error) => log.warn({ err: error.message }, 'uses of API keys not written'));
  }, EVERY_MS);
  timer.unref();
  return {
    note(keyId, { address, name }) {
      const before = uses.get(keyId);
      if (!before && uses.size >= MOST) return;
      uses.set(keyId, { count: (before?.count ?? 0) + 1, at: new Date(), address, client: name ?? null });
    },
    flush,
    stop: () => clearInterval(timer),
  };
}
