import { outranks } from '#areas/users/public.ts';
import { requirePermission } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, invalid, invalidAll } from '#kernel/errors.ts';
import { type AccountNamed, findNamed, nameOf, type Part, parts } from './access.store.ts';
import type { LabelAccess, LabelAccessPut, PrincipalIn } from './labels.schemas.ts';
import { MOST_PRINCIPALS } from './labels.schemas.ts';
import type { LabelRow } from './labels.store.ts';

/** 403 without `user:manage` for a label that restricts: changing it changes what others may see. */
export function requireAccess({ who }: Call, label: Pick<LabelRow, 'restricts'>): void {
  if (label.restricts) requirePermission(who, 'user:manage');
}

type Lists = Pick<LabelAccessPut, 'allow' | 'deny' | 'only'>;

/** 400 for contradictory lists, unknown principals and the owner; 403 for adding or removing a principal not below the caller. */
export async function checkAccess(call: Call, before: LabelAccess, requested: LabelAccessPut): Promise<void> {
  if (requested.allow.length > 0 && !requested.restricted) {
    throw invalid(['body', 'allow'], 'needs_restricted', 'only a restricted label allows');
  }
  if (parts.reduce((sum, part) => sum + requested[part].length, 0) > MOST_PRINCIPALS) {
    throw invalid(['body'], 'too_big', `at most ${MOST_PRINCIPALS} principals`);
  }
  const named = await findNamed(call.db, idsOf(before, requested));
  refuseUnknown(requested, named);
  for (const change of changedOf(before, requested)) refuseRank(call, change, named);
}

const idsOf = (...lists: Lists[]): string[] =>
  lists.flatMap((list) => parts.flatMap((part) => list[part].flatMap((one) => one.userId ?? one.profileId ?? [])));

function refuseUnknown(requested: Lists, named: ReadonlyMap<string, AccountNamed>): void {
  const issues = parts.flatMap((part) =>
    requested[part].flatMap((one, i) => {
      const fault = one.role ? undefined : faultOf(named.get(nameOf(one)));
      return fault ? [{ path: ['body', part, i], ...fault }] : [];
    }),
  );
  if (issues.length > 0) throw invalidAll(issues);
}

function faultOf(account: AccountNamed | undefined): { code: string; message: string } | undefined {
  if (!account) return { code: 'unknown_principal', message: 'the account or profile does not exist' };
  if (account.role === 'owner' && account.whole) return { code: 'owner', message: 'the owner sees everything' };
  return undefined;
}

interface Changed {
  part: Part;
  one: PrincipalIn;
}

function changedOf(before: Lists, requested: Lists): Changed[] {
  return parts.flatMap((part) => {
    const [old, now] = [before[part], requested[part]].map((list) => new Map(list.map((one) => [nameOf(one), one])));
    const names = new Set(old?.keys()).symmetricDifference(new Set(now?.keys()));
    return [...names].flatMap((name) => {
      const one = old?.get(name) ?? now?.get(name);
      return one ? [{ part, one }] : [];
    });
  });
}

/**
 * The caller may add and remove its own account in `allow`, where the creator of a restricted label stands, but not in `deny`
 * and `only`, which others set. The other profiles of its account the caller may put in any list.
 */
function refuseRank({ who }: Call, { part, one }: Changed, named: ReadonlyMap<string, AccountNamed>): void {
  const account = named.get(nameOf(one));
  const role = one.role ?? (account?.role as typeof who.role | undefined);
  const own = account?.account_id === who.accountId && (part === 'allow' || !account.whole);
  if (role === undefined || own || outranks(who, role)) return;
  throw new ApiError('FORBIDDEN', 'This account is not below yours', { by: 'rank' });
}
