import { audit } from '#kernel/audit.ts';
import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { IdParams } from '#kernel/schemas.ts';
import { findAccess, replaceAccess, settleLost } from './access.store.ts';
import { LabelAccess, LabelAccessPut } from './labels.schemas.ts';
import { lockLabel } from './labels.store.ts';
import { checkAccess } from './rights.ts';

export const setLabelAccess = defineEndpoint({
  operationId: 'setLabelAccess',
  method: 'put',
  path: '/labels/:id/access',
  summary: 'Replace the access rules of a label',
  description:
    'Replaces all three lists. `restricted` hides its items from everyone but `allow`, `deny` hides them from those named, and those in `only` see no items without one of their labels. `allow` without `restricted`, and naming the owner, are 400. It takes effect with the next request.',
  access: { permission: 'user:manage' },
  params: IdParams,
  body: LabelAccessPut,
  answer: json(200, LabelAccess),

  async handle({ params, body }, call) {
    const { db, who } = call;
    const label = await lockLabel(db, who, params.id);
    const before = (await findAccess(db, [label])).get(label.number) as LabelAccess;
    await checkAccess(call, before, body);
    await replaceAccess(db, label.number, body);
    await settleLost(db, [...before.only, ...body.only]);
    const after = (await findAccess(db, [{ ...label, restricted: body.restricted }])).get(label.number) as LabelAccess;
    await audit(call, 'label.access', { labelId: label.id, name: label.name, before, after });
    return after;
  },
});
