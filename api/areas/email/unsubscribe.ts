import { timingSafeEqual } from 'node:crypto';
import { switchMailOff } from '#areas/notifications/public.ts';
import { notFound } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { type Keys, sign } from '#platform/keys.ts';
import { addressHash, masked } from './address.ts';
import { type Endable, emailKindOf, endable } from './kinds.ts';

const YEAR_MS = 365 * 86_400_000;
const SIGNATURE = 16; // bytes
const signed = (keys: Keys, text: string): Buffer => sign(keys, `unsubscribe|${text}`);

interface Claim {
  accountId: string;
  address: string;
  kind: Endable;
}

/** Token for account, address and kind; it is valid for `endMails` only. */
export function unsubscribeToken(keys: Keys, { accountId, address, kind }: Claim, now: Date): string {
  const text = [accountId, addressHash(address).slice(0, 32), kind, now.getTime()].join(' ');
  return Buffer.concat([signed(keys, text), Buffer.from(text)]).toString('base64url');
}

interface Opened {
  accountId: string;
  hash: string;
  kind: Endable;
}

function opened(keys: Keys, token: string, now: Date): Opened | undefined {
  const bytes = Buffer.from(token, 'base64url');
  const text = bytes.subarray(SIGNATURE).toString('utf8');
  if (bytes.length <= SIGNATURE || !timingSafeEqual(bytes.subarray(0, SIGNATURE), signed(keys, text))) return undefined;
  const [accountId = '', hash = '', name = '', at = ''] = text.split(' ');
  const kind = endable.find((one) => one === name);
  return kind && now.getTime() - Number(at) <= YEAR_MS ? { accountId, hash, kind } : undefined;
}

interface Ending {
  keys: Keys;
  now: Date;
  token: string;
  kind?: Endable | 'all' | undefined;
}

/**
 * Turns the mails off for every profile, since all go to one address. Throws 404 for a token that is invalid, over a year old,
 * or for a former address of the account.
 */
export async function endMails(
  db: Db,
  { keys, now, token, kind }: Ending,
): Promise<{ kinds: Endable[]; address: string }> {
  const claim = opened(keys, token, now);
  const account = claim && (await findAccount(db, claim.accountId));
  if (!claim || !account || addressHash(account.email).slice(0, 32) !== claim.hash) throw notFound();
  const wanted = kind ?? claim.kind;
  const kinds = wanted === 'all' ? [...endable] : [wanted];
  const profileIds = await db('profiles').where({ account_id: claim.accountId }).orderBy('id').pluck('id');
  for (const profileId of profileIds)
    await switchMailOff(db, profileId, (one, email) => {
      if (email === 'digest') return kinds.includes('digest');
      return (kinds as string[]).includes(emailKindOf(one));
    });
  return { kinds, address: masked(account.email) };
}

async function findAccount(db: Db, id: string): Promise<{ email: string } | undefined> {
  return db('accounts')
    .where({ id })
    .whereNull('deleted_at')
    .whereNotNull('email')
    .first<{ email: string } | undefined>('email');
}
