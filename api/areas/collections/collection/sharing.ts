import { notify, seers } from '#areas/notifications/public.ts';
import { directory } from '#areas/users/public.ts';
import { requirePermission } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, invalid, invalidAll } from '#kernel/errors.ts';
import type { CollectionDraft } from '../collections.schemas.ts';
import { accountsOf, type CollectionRow, writeAccounts } from './collections.store.ts';
import { findCollectionRow } from './find.ts';

export interface Sharing {
  sharing: CollectionRow['sharing'];
  pinned: readonly string[];
  userIds: readonly string[] | undefined;
}

/** Throws 403 for what the role or the permissions of the caller do not allow, 400 for accounts without the sharing. */
export function requireShareable({ who }: Call, { sharing, pinned, userIds }: Sharing): void {
  if (sharing !== 'private' && who.role === 'guest')
    throw new ApiError('FORBIDDEN', 'Guests cannot share', { by: 'role' });
  if (sharing === 'everyone' && who.role === 'child')
    throw new ApiError('FORBIDDEN', 'Children share with accounts only', { by: 'role' });
  if (sharing === 'everyone' && pinned.length > 0) requirePermission(who, 'library:manage');
  if (userIds && userIds.length > 0 && sharing !== 'accounts')
    throw invalid(['body', 'userIds'], 'not_shared', 'only with sharing accounts');
}

/** Throws 400 for accounts outside the directory of the caller, except those that it is shared with already. */
export async function requireKnown(
  { db, who }: Call,
  userIds: NonNullable<CollectionDraft['userIds']>,
  before: readonly string[] = [],
): Promise<void> {
  const added = userIds.filter((id) => !before.includes(id));
  if (added.length === 0) return;
  const found = await directory(db, who).whereIn('a.id', added);
  const known = new Set(found.map(({ id }) => id));
  const issues = userIds.flatMap((id, i) =>
    known.has(id) || before.includes(id)
      ? []
      : [{ path: ['body', 'userIds', i], code: 'unknown_account', message: 'no account that you can share with' }],
  );
  if (issues.length > 0) throw invalidAll(issues);
}

/** Shares it with exactly these accounts, and notifies those that are new and see something in it. */
export async function shareWith(call: Call, id: string, userIds: readonly string[]): Promise<void> {
  const { db, who } = call;
  const before = (await accountsOf(db, id)).map(({ userId }) => userId);
  const after = [...new Set(userIds)];
  await writeAccounts(db, id, after);
  const seeing = await seeingOf(
    call,
    id,
    after.filter((userId) => !before.includes(userId)),
  );
  if (seeing.accountIds.length === 0) return;
  await notify(db, {
    kind: 'collection-shared',
    to: { accountIds: seeing.accountIds },
    target: { kind: 'collection', id },
    actorId: who.accountId,
    data: { name: seeing.name },
    url: `/collection/${id}`,
  });
}

/** Those of these accounts whose main profile sees the collection now: its name would reveal hidden items. */
async function seeingOf(
  call: Call,
  id: string,
  accountIds: readonly string[],
): Promise<{ accountIds: string[]; name: string }> {
  const seeing = { accountIds: [] as string[], name: '' };
  if (accountIds.length === 0) return seeing;
  const { db } = call;
  const profiles = await db('profiles')
    .whereIn('account_id', [...accountIds])
    .where({ main: true })
    .pluck('id');
  for (const { who, accountId } of await seers(db, profiles, { kind: 'collection-shared' })) {
    const row = await findCollectionRow({ ...call, who }, id);
    if (!row) continue;
    seeing.accountIds.push(accountId);
    seeing.name = row.name;
  }
  return seeing;
}
