import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict } from '#kernel/errors.ts';
import { countPrincipals, markLost, sightChanged } from './access.store.ts';
import { countCarriers, listedWith, relabel } from './label-items.store.ts';
import type { LabelRow } from './labels.store.ts';
import { requireAccess } from './rights.ts';

/** Beyond this a job recomputes the label lists; until then a number without a label has no effect. */
const AT_ONCE = 1000;

/** Throws 409 `label-restricts` with the counts of affected items and principals, unless `confirm` is the name. */
export async function removeLabel(call: Call, label: LabelRow, confirm: string | undefined): Promise<void> {
  const { db } = call;
  requireAccess(call, label);
  if (label.restricts && confirm !== label.name) {
    const details = {
      items: await countCarriers(db, label.number),
      principals: await countPrincipals(db, label.number),
    };
    throw conflict('label-restricts', 'Deleting it shows what it hides: send its name as confirm', details);
  }
  await markLost(db, label.number);
  const closed = await listedWith(db, label.number, AT_ONCE + 1);
  const few = closed.length <= AT_ONCE;
  const drop = () => db('labels').where({ number: label.number }).delete();
  if (few) await relabel(db, closed, drop);
  else await drop();
  await sightChanged(db);
  if (!few) await call.enqueue('labels.apply', { number: label.number });
  await audit(call, 'label.deleted', { labelId: label.id, name: label.name });
}
