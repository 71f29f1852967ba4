import type { z } from 'zod';
import { noteWithoutPictures } from '#areas/artwork/public.ts';
import {
  findVisibleItem,
  getVisibleItem,
  type ItemDetail,
  type ItemSummary,
  itemDetail,
  listSummaries,
  type VisibleItem,
} from '#areas/items/public.ts';
import { joinLabels } from '#areas/labels/public.ts';
import {
  divideItem,
  editFields,
  hasField,
  type LibrarySettings,
  makeSibling,
  pinFiles,
  placeEpisode,
  raiseChangesOfItems,
  settingsOf,
} from '#areas/libraries/public.ts';
import { joinStates } from '#areas/playback/public.ts';
import { readAgain } from '#areas/scanning/public.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, type Issue, invalid, invalidAll } from '#kernel/errors.ts';
import type { FieldName } from '#platform/item-values.ts';
import type { Row } from '#platform/typed-query.ts';
import { announce, announceAdded } from './announce.ts';
import { placeOf } from './edit-item.ts';
import type { SplitRequest } from './editing.schemas.ts';
import { nameOfFile } from './file-name.ts';
import { queueItem } from './match/refresh.ts';
import { combine } from './merge-items.ts';

interface Split {
  item: ItemDetail;
  created: z.output<typeof ItemSummary>[];
}

/** Takes files out of an item, to another item or to a new one, where later scans leave them. */
export async function splitFiles(call: Call, id: string, { fileIds, target }: SplitRequest): Promise<Split> {
  const { rest, created } = await call.transact((inside) => split(inside, id, { fileIds, target }));
  const item = await itemDetail(call, await getVisibleItem(call.db, call.who, rest), { include: [] });
  return { item, created: await listSummaries(call.db, call.who, created) };
}

interface Done {
  /** The item of the files that were not named. */
  rest: string;
  created: string[];
}

async function split(call: Call, id: string, { fileIds: named, target }: SplitRequest): Promise<Done> {
  const { db, who } = call;
  const item = await getVisibleItem(db, who, id);
  await raiseChangesOfItems(db, [id]);
  const files = await filesOf(call, item, named);
  const to = await targetOf(call, item, target);
  const isAll = files.chosen.length === files.count;
  if (isAll && !to)
    throw conflict('nothing-left', 'An item keeps at least one file, unless they go to a number or an item', {});
  const fileIds = files.chosen.map((file) => file.id);
  if (isAll && to && to !== 'new') return joinWhole(call, item, { to, fileIds });
  if (isAll && target && 'index' in target) return renumber(call, item, { target, fileIds });
  return divide(call, item, { to, target, files: files.chosen });
}

type FileRow = Pick<Row<'media_files'>, 'id' | 'path'>;

/** The named files. Throws 400 for those of other items. */
async function filesOf(
  { db }: Call,
  { id }: VisibleItem,
  named: readonly string[],
): Promise<{ chosen: FileRow[]; count: number }> {
  const own = await db('media_files')
    .where({ item_id: id, ignored: false })
    .orderBy('id')
    .forUpdate()
    .select('id', 'path');
  const known = new Set(own.map((file) => file.id));
  const issues = named.flatMap((fileId, at): Issue[] =>
    known.has(fileId)
      ? []
      : [{ path: ['body', 'fileIds', at], code: 'unknown_file', message: 'the item has no such file' }],
  );
  if (issues.length > 0) throw invalidAll(issues);
  return { chosen: own.filter((file) => named.includes(file.id)), count: own.length };
}

/** The item that the files go to; `new` for one with a number that no item has, undefined for one without. */
async function targetOf(
  { db, who }: Call,
  item: VisibleItem,
  target: SplitRequest['target'],
): Promise<VisibleItem | 'new' | undefined> {
  if (!target) return undefined;
  const id = 'itemId' in target ? target.itemId : await numbered(db, item, target);
  if (id === undefined) return 'new';
  const path = ['body', 'target', 'itemId'];
  if (id === item.id) throw invalid(path, 'itself', 'the files are in this item');
  const found = await findVisibleItem(db, who, id);
  if (!found) throw invalid(path, 'unknown_item', 'the item does not exist');
  if (found.type !== item.type || found.libraryId !== item.libraryId || found.extraOf || item.extraOf)
    throw conflict('type-differs', 'Files go to an item of the same type and library', { itemIds: [found.id] });
  return found;
}

interface Numbers {
  parentIndex: number;
  index: number;
}

/** The item of these numbers in the show of an episode, or in the container of another item. */
async function numbered(db: Call['db'], item: VisibleItem, { parentIndex, index }: Numbers) {
  if (!hasField(item.type, 'parentIndex') || item.parentId === null)
    throw invalid(['body', 'target'], 'wrong_type', `items of type ${item.type} have no such numbers`);
  const isEpisode = item.type === 'episode';
  const found = await db('items')
    .where({ type: item.type, parent_index: parentIndex, index_number: index })
    .where(isEpisode ? { grandparent_id: item.grandparentId } : { parent_id: item.parentId })
    .whereNull('trashed_at')
    .orderBy('id')
    .first('id');
  return found?.id;
}

/** All files of an item are elsewhere now: the item is part of the other one. */
async function joinWhole(
  call: Call,
  item: VisibleItem,
  { to, fileIds }: { to: VisibleItem; fileIds: readonly string[] },
): Promise<Done> {
  await combine(call, to, [item]);
  await pinFiles(call.db, to.id, fileIds);
  return { rest: to.id, created: [] };
}

/** All files of an item get another number: the item itself does, with what people left in it. */
async function renumber(
  call: Call,
  { id }: VisibleItem,
  { target, fileIds }: { target: Numbers; fileIds: readonly string[] },
): Promise<Done> {
  await number(call, id, target);
  await pinFiles(call.db, id, fileIds);
  await audit(call, 'item.split', { itemId: id, intoId: id, fileIds });
  await announce(call.db, [{ id, changed: ['index', 'parentIndex'] }]);
  return { rest: id, created: [] };
}

interface Dividing {
  to: VisibleItem | 'new' | undefined;
  target: SplitRequest['target'];
  files: readonly FileRow[];
}

async function divide(call: Call, item: VisibleItem, { to, target, files }: Dividing): Promise<Done> {
  const { db } = call;
  const isNew = to === undefined || to === 'new';
  const into = isNew ? await makeNew(call, item, files) : to.id;
  const fileIds = files.map((file) => file.id);
  const keepRest = async (): Promise<void> => {
    await joinStates(db, [{ from: item.id, into, fileIds }]);
    if (isNew) await joinLabels(db, [{ from: item.id, into }]);
  };
  await divideItem(db, { from: item.id, into, fileIds }, { isNew, keepRest });
  if (to === 'new' && target && 'index' in target) await number(call, into, target);
  await readAgain(db, fileIds);
  await audit(call, 'item.split', { itemId: item.id, intoId: into, fileIds });
  await announce(db, [{ id: item.id, changed: ['files'] }, ...(isNew ? [] : [{ id: into, changed: ['files'] }])]);
  if (isNew) await introduce(call, into);
  return { rest: item.id, created: isNew ? [into] : [] };
}

async function makeNew(call: Call, item: VisibleItem, [first]: readonly FileRow[]): Promise<string> {
  const settings = settingsOf(
    { type: item.libraryType, settings: item.librarySettings as Partial<LibrarySettings> },
    placeOf(call),
  );
  const values = (first && nameOfFile(first.path)) ?? { title: item.title };
  const id = await makeSibling(call.db, { from: item.id, values, settings });
  await keepAgeRating(call, item.id, id);
  return id;
}

/** The new item is for the same people until its own rating is known. */
async function keepAgeRating(call: Call, from: string, id: string): Promise<void> {
  const row = await call.db('items').where({ id: from }).first('age_rating');
  if (row?.age_rating === null || row === undefined) return;
  await set(call, { id, fields: new Map([['ageRating', row.age_rating]]), lock: false });
}

async function number(call: Call, id: string, { parentIndex, index }: Numbers): Promise<void> {
  const fields = new Map<FieldName, unknown>([
    ['parentIndex', parentIndex],
    ['index', index],
  ]);
  await set(call, { id, fields, lock: true });
  await placeEpisode(call.db, id);
}

async function set(
  call: Call,
  { id, fields, lock }: { id: string; fields: ReadonlyMap<FieldName, unknown>; lock: boolean },
): Promise<void> {
  const editor = { accountId: call.who.accountId || null, lock, place: placeOf(call) };
  await editFields(call.db, [{ itemId: id, fields }], editor);
}

/** Reports a new item, and has it identified and pictured. */
async function introduce(call: Call, id: string): Promise<void> {
  const { db, who, enqueue } = call;
  const item = await getVisibleItem(db, who, id);
  await announceAdded(db, [id]);
  const options = { mode: 'update', artwork: 'missing', identify: true, by: 'person' } as const;
  await queueItem(call, item, { children: false, options });
  const { libraryId } = item;
  await noteWithoutPictures(db, libraryId, [id]);
  const target = { kind: 'library', id: libraryId };
  await enqueue('artwork.fetch', { libraryId }, { key: `artwork.fetch:${libraryId}`, libraryId, target });
}
