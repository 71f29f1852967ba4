import {
  type AccessParts,
  CHILD_AGE,
  librariesReached,
  setAccountLibraries,
  updateAccount,
} from '#areas/accounts/public.ts';
import { principalOf } from '#identity/account-row.ts';
import type { Role } from '#identity/permissions.ts';
import { onlyVisibleItems, onlyVisibleLibraries } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, invalidAll } from '#kernel/errors.ts';
import { countUpTo } from '#kernel/page.ts';
import type { ManagedBy } from '#platform/config.ts';

export interface Subject {
  id: string;
  role: Role;
  isNew?: boolean;
}

const NONE: ReadonlySet<string> = new Set();

/**
 * What an account may see and use, as far as the caller may give it. Answers the libraries whose access a resource
 * declares. Throws 400 for unknown libraries, 403 for those and for an age that the caller does not reach.
 */
export async function writeAccess(
  call: Call,
  subject: Subject,
  wished: AccessParts,
): Promise<{ libraryId: string; by: ManagedBy }[]> {
  const { db } = call;
  const { id, isNew } = subject;
  const access = isNew ? { ...wished, hideUnrated: wished.hideUnrated ?? call.who.sees.hideUnrated } : wished;
  refuseHigherAge(call, access, subject);
  refuseUnrated(call, access);
  await refuseStrangeLibraries(call, access.libraries?.ids ?? []);
  const before = isNew ? NONE : await librariesReached(db, id);
  await updateAccount(db, { id }, { ...columnsOf(access), access_version: db.raw('access_version + 1') });
  const libraries = access.libraries ?? (isNew ? { mode: 'default' as const, ids: [] } : undefined);
  const managed = libraries ? await setAccountLibraries(call, id, { ...libraries, isNew }) : [];
  await refuseFurtherReach(call, id, before);
  return managed;
}

function columnsOf(access: AccessParts): Record<string, unknown> {
  const json = (value: object | undefined): string | undefined => value && JSON.stringify(value);
  const columns = {
    age_limit: access.ageLimit,
    hide_unrated: access.hideUnrated,
    viewing_hours: json(access.viewingHours),
    hours_zone: access.timeZone,
    limits: json(access.limits),
    restrictions: json(access.restrictions),
  };
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

/** What an invite will give, judged when it is made. Throws as `writeAccess` does. */
export async function refuseUngivable(call: Call, subject: Omit<Subject, 'id'>, access: AccessParts): Promise<void> {
  refuseHigherAge(call, access, subject);
  await refuseStrangeLibraries(call, access.libraries?.ids ?? []);
}

/** A longer reach than the caller's own is not given: neither by a higher age limit nor by none. */
function refuseHigherAge({ who }: Call, { ageLimit }: AccessParts, { role, isNew }: Omit<Subject, 'id'>): void {
  const own = who.sees.ageLimit;
  if (own === undefined || (ageLimit === undefined && !isNew)) return;
  const given = ageLimit === undefined && role === 'child' ? CHILD_AGE : ageLimit;
  if (given !== undefined && given !== null && given <= own) return;
  throw new ApiError('FORBIDDEN', 'You cannot give more than you may see', { by: 'age-limit' });
}

/** What has no rating is beyond the reach of who may not see it. */
function refuseUnrated({ who }: Call, { hideUnrated }: AccessParts): void {
  if (!who.sees.hideUnrated || hideUnrated !== false) return;
  throw new ApiError('FORBIDDEN', 'You cannot give more than you may see', { by: 'hide-unrated' });
}

async function seenLibraries({ db, who }: Call): Promise<Set<string>> {
  return new Set((await db('libraries').modify(onlyVisibleLibraries, who).pluck('id')) as string[]);
}

/** Who sees every library is told which are none; others cannot tell hidden from unknown ones. */
async function refuseStrangeLibraries(call: Call, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const seen = await seenLibraries(call);
  const strange = ids.filter((id) => !seen.has(id));
  if (strange.length === 0) return;
  if (!call.who.sees.all) throw notYours(strange);
  throw invalidAll(
    strange.map((id) => ({
      path: ['body', 'libraries', 'ids', ids.indexOf(id)],
      code: 'unknown_library',
      message: 'there is no such library',
    })),
  );
}

/** 403 when the account now reaches a library, not in `before`, that the caller does not see. */
export async function refuseFurtherReach(call: Call, accountId: string, before: ReadonlySet<string>): Promise<void> {
  if (call.who.sees.all) return;
  const gained = (await librariesReached(call.db, accountId)).difference(before);
  const strange = gained.difference(await seenLibraries(call));
  if (strange.size > 0) throw notYours([...strange]);
}

const notYours = (libraryIds: string[]): ApiError =>
  new ApiError('FORBIDDEN', 'You cannot give libraries that you do not see', { libraryIds });

/** Items that the account sees with its main profile; an estimate beyond 10,000. */
export async function countVisible({ db }: Call, accountId: string): Promise<number> {
  const who = await principalOf(db, accountId);
  if (!who) throw new Error('an account has a main profile');
  const { total } = await countUpTo(db, db.from('items').whereNull('extra_of').modify(onlyVisibleItems, who));
  return total;
}
