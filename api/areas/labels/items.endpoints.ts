import { itemsMatching } from '#areas/items/public.ts';
import { onlyVisibleItems } from '#identity/visibility.ts';
import { type Call, defineEndpoint, json } from '#kernel/endpoint.ts';
import { conflict, invalidAll } from '#kernel/errors.ts';
import { IdParams } from '#kernel/schemas.ts';
import { changeItems, inheritedFrom } from './label-items.store.ts';
import { LabelItemsAnswer, LabelItemsBody } from './labels.schemas.ts';
import { type LabelRow, lockLabel } from './labels.store.ts';
import { requireAccess } from './rights.ts';

const AT_ONCE = 1000;

export const setLabelItems = defineEndpoint({
  operationId: 'setLabelItems',
  method: 'post',
  path: '/labels/:id/items',
  summary: 'Label items and take the label off others; what lies inside follows',
  access: { permission: 'item:edit' },
  params: IdParams,
  body: LabelItemsBody,
  answer: json(200, LabelItemsAnswer),
  errors: ['CONFLICT'],
  emits: ['item.updated'],

  async handle({ params, body }, call) {
    const { db, who } = call;
    const label = await lockLabel(db, who, params.id);
    requireAccess(call, label);
    await refuseUnknown(call, body);
    const found = body.filter ? await matching(call, body.filter) : [];
    const by = (action: 'add' | 'remove'): string[] => (found && body.filter?.action === action ? found : []);
    const from = await inheritedFrom(db, label.number, body.remove);
    if (from.length > 0) throw conflict('inherited', 'It comes from what the item lies in', { from });
    const add = [...new Set([...body.add, ...by('add')])];
    const remove = [...new Set([...body.remove, ...by('remove')])];
    const { added, removed } = await changeItems(db, label.number, { add, remove });
    const answer = { added, removed, unchanged: add.length + remove.length - added - removed };
    if (found) return answer;
    call.reply.status(202);
    return { ...answer, jobId: await applyLater(call, label, body) };
  },
});

/** All or nothing: ids that are unknown or hidden, and those that are asked for both ways. */
async function refuseUnknown({ db, who }: Call, { add, remove }: LabelItemsBody): Promise<void> {
  const ids = [...new Set([...add, ...remove])];
  if (ids.length === 0) return;
  const rows = db('items').whereRaw('items.id = any(?::uuid[])', [ids]).modify(onlyVisibleItems, who);
  const seen = new Set((await rows.pluck('items.id')) as string[]);
  const both = new Set(add).intersection(new Set(remove));
  const issues = Object.entries({ add, remove }).flatMap(([list, asked]) =>
    asked.flatMap((id, i) => {
      const path = ['body', list, i];
      if (!seen.has(id)) return [{ path, code: 'unknown_item', message: 'there is no such item' }];
      return both.has(id) ? [{ path, code: 'in_both', message: 'in add and in remove' }] : [];
    }),
  );
  if (issues.length > 0) throw invalidAll(issues);
}

type Filter = NonNullable<LabelItemsBody['filter']>;

/** Ids of what a filter leaves; undefined when that is too much for a request. */
async function matching(call: Call, { libraryId, filter }: Filter): Promise<string[] | undefined> {
  const { query } = await itemsMatching(call, libraryId, filter);
  const ids = (await query.limit(AT_ONCE + 1).pluck('i.id')) as string[];
  return ids.length > AT_ONCE ? undefined : ids;
}

async function applyLater({ enqueue, who }: Call, { number, id }: LabelRow, body: LabelItemsBody): Promise<string> {
  const { libraryId, filter, action } = body.filter as Filter;
  const payload = { number, filter: { libraryId, filter, action, accountId: who.accountId } };
  return enqueue('labels.apply', payload, { libraryId, target: { kind: 'label', id } });
}
