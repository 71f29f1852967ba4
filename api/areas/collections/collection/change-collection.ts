import { checkSmartRules, firstIds } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import type { CollectionChange } from '../collections.schemas.ts';
import { replaceItems } from '../items/held.store.ts';
import { collectionList } from '../items/listing.ts';
import { countRules } from '../rules/count-rules.ts';
import { accountsOf, type CollectionRow, namesOf, updateCollectionRow } from './collections.store.ts';
import { refuseMixedSort, storedSort } from './create-collection.ts';
import { getCollectionRow } from './find.ts';
import { queueMosaic } from './mosaic.ts';
import { dropFormerPictures, type Opened, pictureColumns } from './pictures.ts';
import { requireKnown, requireShareable, shareWith } from './sharing.ts';

/** What a smart collection holds at most when it becomes a manual one. */
const MOST_FROZEN = 10_000;

/** Applies a PATCH to the locked collection, completely or not at all. */
export async function changeCollection(
  call: Call,
  row: CollectionRow,
  { change, opened }: { change: CollectionChange; opened: Opened },
): Promise<CollectionRow> {
  const before = (await accountsOf(call.db, row.id)).map(({ userId }) => userId);
  await checkChange(call, row, { change, before });
  const frozen = change.freeze && row.kind === 'smart' ? await itemsNow(call, row) : undefined;
  await updateCollectionRow(call.db, row.id, {
    ...textColumns(call, row, change),
    ...(await pictureColumns(call, row, { change, opened })),
    ...(frozen && { kind: 'manual', rules: null, sort: null }),
  });
  if (frozen) await replaceItems(call.db, row.id, frozen);
  await share(call, row, { change, before });
  const after = await getCollectionRow(call, row.id);
  await dropFormerPictures(call, after);
  await queueMosaic(call, row.id);
  return after;
}

interface Changing {
  change: CollectionChange;
  /** Accounts that it is shared with. */
  before: readonly string[];
}

async function checkChange(call: Call, row: CollectionRow, { change, before }: Changing): Promise<void> {
  const { rules, userIds } = change;
  const sharing = change.sharing ?? row.sharing;
  const pinned = change.pinned ?? row.pinned;
  if (change.sharing !== undefined || change.pinned !== undefined || userIds)
    requireShareable(call, { sharing, pinned, userIds });
  refuseMixedSort(change.sort);
  if (userIds) await requireKnown(call, userIds, before);
  if (!rules) return;
  if (row.kind !== 'smart') throw conflict('not-smart', 'A manual collection has no rules');
  await checkSmartRules(call, rules, ['body', 'rules']);
  await countRules(call, rules, ['body', 'rules', 'match']);
}

/** Columns of the fields in a change. Fields that a person sets on a collection of a catalogue are locked. */
function textColumns({ db }: Call, row: CollectionRow, change: CollectionChange): Record<string, unknown> {
  const { overview, sort, pinned, sharing, rules } = change;
  const columns = {
    overview: overview === '' ? null : overview,
    sort: sort && storedSort(sort),
    ...{ pinned, sharing, rules: rules && JSON.stringify(rules) },
    ...nameColumns(db, row, change),
    locked_fields: lockedAfter(row, change),
  };
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

/** A sort name that a person set stays when the name changes; null makes it from the name again. */
function nameColumns(db: Db, row: CollectionRow, { name, sortName }: CollectionChange): Record<string, unknown> {
  if (name === undefined && sortName === undefined) return {};
  const own = row.locked_fields.includes('sortName') ? row.sort_name : undefined;
  return namesOf(db, name ?? row.name, sortName === undefined ? own : (sortName ?? undefined));
}

const lockable = ['name', 'sortName', 'overview', 'poster', 'backdrop'] as const;

function lockedAfter(row: CollectionRow, change: CollectionChange): string[] {
  const set = lockable.filter((field) => {
    if (field === 'poster' || field === 'backdrop')
      return change[field] !== undefined || change[`${field}ImageId`] !== undefined;
    return change[field] !== undefined && (field !== 'sortName' || change.sortName !== null);
  });
  const freed = change.sortName === null ? ['sortName'] : [];
  const locked = row.source === 'agent' ? set : set.filter((field) => field === 'sortName');
  return [...new Set([...row.locked_fields, ...locked])].filter((field) => !freed.includes(field));
}

/** What the caller sees in it now. */
async function itemsNow(call: Call, row: CollectionRow): Promise<string[]> {
  const list = await collectionList(call, row);
  return firstIds(call, list.listing, { ...list, limit: MOST_FROZEN });
}

async function share(call: Call, row: CollectionRow, { change, before }: Changing): Promise<void> {
  const sharing = change.sharing ?? row.sharing;
  if (sharing !== 'accounts') {
    if (before.length > 0) await shareWith(call, row.id, []);
  } else if (change.userIds) await shareWith(call, row.id, change.userIds);
}
