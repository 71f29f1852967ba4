import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { BulkRequest, BulkResult } from './bulk.schemas.ts';
import { changeInBulk } from './bulk.ts';

export const changeItemsInBulk = defineEndpoint({
  operationId: 'changeItemsInBulk',
  method: 'post',
  path: '/items/bulk',
  summary: 'Change many items',
  description:
    'Edits, locks, unlocks, refreshes or deletes items. `delete.files=trash` moves their files to the trash of the storage, needs `library:manage`, and refuses items whose library or storage does not allow it. Up to 200 items are changed at once; for more the answer is 202 with `jobId`, and the ids that match are fixed at the start. `dryRun` only counts and names refusals. 409 `count-differs` when `expect` and the number of matching items differ by more than 1 %. A refused item does not stop the rest. Null values for the same ids undo an edit, restoreTrash a deletion.',
  access: { permission: 'item:edit' },
  body: BulkRequest,
  answer: json(200, BulkResult),
  errors: ['CONFLICT'],
  emits: ['item.updated', 'item.deleted'],

  async handle({ body }, call) {
    return changeInBulk(call, body);
  },
});
