import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { passwordMatches } from './passwords.ts';

const WRONG = 5;
const BLOCKED_SECONDS = 900;

interface Counted {
  left: number;
  blocked_s: number | null;
}

/**
 * Takes one of five tries in 15 minutes before the PIN is looked at, so that many at once are no more tries; 429 while the PIN is
 * blocked. Right ones give the tries back.
 */
export async function checkPin(
  { db }: Call,
  profile: { id: string; pin_hash: string | null },
  pin: string,
): Promise<void> {
  const counted = await countTry(db, profile.id);
  if (counted.blocked_s !== null)
    throw new ApiError('RATE_LIMITED', 'Too many wrong PINs', { retryAfterSec: counted.blocked_s });
  if (!(await passwordMatches(profile.pin_hash, pin))) throw wrongPin(counted.left);
  await openPins(db, { id: profile.id });
}

export function wrongPin(triesLeft: number): ApiError {
  return new ApiError('FORBIDDEN', 'The PIN is wrong', { by: 'pin', triesLeft });
}

async function countTry(db: Db, id: string): Promise<Counted> {
  const found = await db.raw<{ rows: Counted[] }>(
    `with recent as (
       select id, array(select at from unnest(pin_wrong) at where at > now() - interval '15 minutes') as wrong,
         pin_blocked_until > now() as blocked
       from profiles where id = ? for update
     ) update profiles p set
         pin_wrong = case when r.blocked then p.pin_wrong else r.wrong || now() end,
         pin_blocked_until = case when r.blocked then p.pin_blocked_until
           when cardinality(r.wrong) + 1 >= ? then now() + make_interval(secs => ?) end
       from recent r where p.id = r.id
       returning ? - cardinality(r.wrong) - 1 as left,
         case when r.blocked then greatest(1, ceil(extract(epoch from p.pin_blocked_until - now())))::int end as blocked_s`,
    [id, WRONG, BLOCKED_SECONDS, WRONG],
  );
  const [row] = found.rows;
  if (!row) throw new Error('no row');
  return row;
}

/** What blocked the PINs is forgotten. */
export async function openPins(db: Db, where: { id: string } | { account_id: string }): Promise<void> {
  await db('profiles').where(where).update({ pin_wrong: [], pin_blocked_until: null });
}
