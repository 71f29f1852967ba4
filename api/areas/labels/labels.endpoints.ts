import { getVisibleItem } from '#areas/items/public.ts';
import { requirePermission } from '#identity/principal.ts';
import { onlyVisibleLibraries } from '#identity/visibility.ts';
import { audit } from '#kernel/audit.ts';
import { type Call, defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { page, pageOf, parseSort } from '#kernel/page.ts';
import { IdParams } from '#kernel/schemas.ts';
import { findAccess, replaceAccess } from './access.store.ts';
import { changeLabel } from './change-label.ts';
import { DeleteLabelQuery, Label, LabelChange, LabelDraft, LabelsQuery, labelSorts } from './labels.schemas.ts';
import {
  getLabel,
  insertLabel,
  type LabelRow,
  labelsOfItem,
  lockLabel,
  selectLabels,
  toLabel,
} from './labels.store.ts';
import { removeLabel } from './remove-label.ts';

export const listLabels = defineEndpoint({
  operationId: 'listLabels',
  method: 'get',
  path: '/labels',
  summary: 'List the labels that the caller may know',
  access: { permission: 'library:view' },
  query: LabelsQuery,
  answer: page(Label),
  errors: ['NOT_FOUND'],

  async handle({ query }, call) {
    const { db, who, deps } = call;
    const { cursor, limit, sort, include, q, restricted, itemId, libraryId } = query;
    if (include) requirePermission(who, 'user:manage');
    if (libraryId !== undefined) await requireLibrary(call, libraryId);
    const from = itemId === undefined ? undefined : await carriedBy(call, itemId);
    const rows = selectLabels(db, who, { q, restricted, libraryId, numbers: from && [...from.keys()] });
    const listed = await pageOf<LabelRow, LabelRow>(db, rows, {
      keys: deps.keys,
      terms: parseSort(sort, labelSorts, 'name'),
      cursor,
      limit,
      scope: JSON.stringify(['listLabels', q, restricted, itemId, libraryId, who.profileId]),
      idColumn: 'l.id',
      toItem: (row) => row,
    });
    const access = include && (await findAccess(db, listed.items));
    const items = listed.items.map((row) => ({
      ...toLabel(row),
      ...inherited(from?.get(row.number)),
      ...(access ? { access: access.get(row.number) } : {}),
    }));
    return { ...listed, items };
  },
});

const inherited = (from: string | null | undefined) => (from ? { inheritedFrom: from } : {});

async function carriedBy({ db, who }: Call, itemId: string): Promise<Map<number, string | null>> {
  await getVisibleItem(db, who, itemId);
  return new Map((await labelsOfItem(db, itemId)).map(({ number, from }) => [number, from]));
}

async function requireLibrary({ db, who }: Call, id: string): Promise<void> {
  const found = await db('libraries').where('libraries.id', id).modify(onlyVisibleLibraries, who).first('libraries.id');
  if (!found) throw notFound();
}

export const createLabel = defineEndpoint({
  operationId: 'createLabel',
  method: 'post',
  path: '/labels',
  summary: 'Make a label; a restricted one is seen by its maker alone until its access is set',
  access: { permission: 'item:edit' },
  body: LabelDraft,
  answer: json(201, Label),
  errors: ['CONFLICT'],

  async handle({ body }, call) {
    const { db, who } = call;
    if (body.restricted) requirePermission(who, 'user:manage');
    const { id, number } = await insertLabel(db, body);
    if (body.restricted) {
      const allow = who.role === 'owner' ? [] : [{ userId: who.accountId }];
      await replaceAccess(db, number, { restricted: true, allow, deny: [], only: [] });
    }
    await audit(call, 'label.created', { labelId: id, name: body.name, restricted: body.restricted });
    // made by itself: it is known to the caller, whose rights were read before it was there
    return toLabel(await getLabel(db, who, id));
  },
});

export const updateLabel = defineEndpoint({
  operationId: 'updateLabel',
  method: 'patch',
  path: '/labels/:id',
  summary: 'Change a label, or merge it into another',
  access: { permission: 'item:edit' },
  params: IdParams,
  body: LabelChange,
  answer: json(200, Label),
  errors: ['CONFLICT'],
  emits: ['item.updated'],

  async handle({ params, body }, call) {
    const id = await changeLabel(call, await lockLabel(call.db, call.who, params.id), body);
    return toLabel(await getLabel(call.db, call.who, id));
  },
});

export const deleteLabel = defineEndpoint({
  operationId: 'deleteLabel',
  method: 'delete',
  path: '/labels/:id',
  summary: 'Delete a label; one that restricts only when its name is sent along',
  access: { permission: 'item:edit' },
  params: IdParams,
  query: DeleteLabelQuery,
  answer: none(),
  errors: ['CONFLICT'],
  emits: ['item.updated'],

  async handle({ params, query }, call) {
    await removeLabel(call, await lockLabel(call.db, call.who, params.id), query.confirm);
  },
});
