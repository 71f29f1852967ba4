import { itemsMatching } from '#areas/items/public.ts';
import { visibleItemIds } from '#identity/visibility.ts';
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
  summary: 'Add a label to items or remove it',
  description:
    'A label on a container covers everything inside. The lists apply at once, all or nothing, and are safe to repeat. A filter that matches more than 1,000 items runs as a job, and the answer is 202 with `jobId`. Removing an inherited label is 409 `inherited`. A label that restricts also needs `user:manage`.',
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
    if (from.length > 0) throw conflict('inherited', 'The item inherits the label from a container', { from });
    const add = [...new Set([...body.add, ...by('add')])];
    const remove = [...new Set([...body.remove, ...by('remove')])];
    const { added, removed } = await changeItems(db, label.number, { add, remove });
    const answer = { added, removed, unchanged: add.length + remove.length - added - removed };
    if (found) return answer;
    call.reply.status(202);
    return { ...answer, jobId: await applyLater(call, label, body) };
  },
});

/** 400 with every id that is unknown, hidden, or in both lists. */
async function refuseUnknown({ db, who }: Call, { add, remove }: LabelItemsBody): Promise<void> {
  const ids = [...new Set([...add, ...remove])];
  if (ids.length === 0) return;
  const visible = new Set(await visibleItemIds(db, who, ids));
  const both = new Set(add).intersection(new Set(remove));
  const issues = Object.entries({ add, remove }).flatMap(([list, listed]) =>
    listed.flatMap((id, i) => {
      const path = ['body', list, i];
      if (!visible.has(id)) return [{ path, code: 'unknown_item', message: 'the item does not exist' }];
      return both.has(id) ? [{ path, code: 'in_both', message: 'in add and in remove' }] : [];
    }),
  );
  if (issues.length > 0) throw invalidAll(issues);
}

type Filter = NonNullable<LabelItemsBody['filter']>;

/** Ids of the items that match a filter; undefined when there are too many for a request. */
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
