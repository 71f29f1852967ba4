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
 * Stores the access of an account, within the access of the caller. Returns the libraries whose access a resource
 * declares. Throws 400 for unknown libraries, 403 for libraries and ages beyond the access of the caller.
 */
export async function writeAccess(
  call: Call,
  subject: Subject,
  requested: AccessParts,
): Promise<{ libraryId: string; by: ManagedBy }[]> {
  const { db } = call;
  const { id, isNew } = subject;
  const access = isNew ? { ...requested, hideUnrated: requested.hideUnrated ?? call.who.sees.hideUnrated } : requested;
  refuseHigherAge(call, access, subject);
  refuseUnrated(call, access);
  await refuseUnknownLibraries(call, access.libraries?.ids ?? []);
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

/** Checks the access that an invite gives. Throws like `writeAccess`. */
export async function refuseUngivable(call: Call, subject: Omit<Subject, 'id'>, access: AccessParts): Promise<void> {
  refuseHigherAge(call, access, subject);
  await refuseUnknownLibraries(call, access.libraries?.ids ?? []);
}

/** 403 for an age limit that is absent or higher than that of the caller. */
function refuseHigherAge({ who }: Call, { ageLimit }: AccessParts, { role, isNew }: Omit<Subject, 'id'>): void {
  const own = who.sees.ageLimit;
  if (own === undefined || (ageLimit === undefined && !isNew)) return;
  const given = ageLimit === undefined && role === 'child' ? CHILD_AGE : ageLimit;
  if (given !== undefined && given !== null && given <= own) return;
  throw new ApiError('FORBIDDEN', 'You cannot give more than you may see', { by: 'age-limit' });
}

/** 403 for unrated items when the caller may not see them. */
function refuseUnrated({ who }: Call, { hideUnrated }: AccessParts): void {
  if (!who.sees.hideUnrated || hideUnrated !== false) return;
  throw new ApiError('FORBIDDEN', 'You cannot give more than you may see', { by: 'hide-unrated' });
}

async function visibleLibraries({ db, who }: Call): Promise<Set<string>> {
  return new Set(await db('libraries').modify(onlyVisibleLibraries, who).pluck('id'));
}

/** 400 for unknown libraries; 403 for a caller with limited access, who cannot distinguish hidden from unknown ones. */
async function refuseUnknownLibraries(call: Call, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const visible = await visibleLibraries(call);
  const unknown = ids.filter((id) => !visible.has(id));
  if (unknown.length === 0) return;
  if (!call.who.sees.all) throw notYours(unknown);
  throw invalidAll(
    unknown.map((id) => ({
      path: ['body', 'libraries', 'ids', ids.indexOf(id)],
      code: 'unknown_library',
      message: 'the library does not exist',
    })),
  );
}

/** 403 when the account now reaches a library that is not in `before` and that the caller does not see. */
export async function refuseFurtherReach(call: Call, accountId: string, before: ReadonlySet<string>): Promise<void> {
  if (call.who.sees.all) return;
  const gained = (await librariesReached(call.db, accountId)).difference(before);
  const unknown = gained.difference(await visibleLibraries(call));
  if (unknown.size > 0) throw notYours([...unknown]);
}

const notYours = (libraryIds: string[]): ApiError =>
  new ApiError('FORBIDDEN', 'You cannot give libraries that you do not see', { libraryIds });

/** Number of items that the main profile of the account sees; an estimate beyond 10,000. */
export async function countVisible({ db }: Call, accountId: string): Promise<number> {
  const who = await principalOf(db, accountId);
  if (!who) throw new Error('an account has a main profile');
  const { total } = await countUpTo(db, db.from('items').whereNull('extra_of').modify(onlyVisibleItems, who));
  return total;
}
