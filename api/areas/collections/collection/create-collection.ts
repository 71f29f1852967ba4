import { checkSmartRules } from '#areas/items/public.ts';
import { requirePermission } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { invalid } from '#kernel/errors.ts';
import type { CollectionDetail, CollectionDraft } from '../collections.schemas.ts';
import { requireItems } from '../items/change-items.ts';
import { addItems } from '../items/held.store.ts';
import { countRules } from '../rules/count-rules.ts';
import { toDetail } from './answer.ts';
import { insertCollection } from './collections.store.ts';
import { getCollectionRow } from './find.ts';
import { queueMosaic } from './mosaic.ts';
import { requireKnown, requireShareable, shareWith } from './sharing.ts';

/** Throws 400, 403, 404 and 409 as the operation says. */
export async function createCollection(call: Call, draft: CollectionDraft): Promise<CollectionDetail> {
  const { db, who } = call;
  const { itemIds = [], userIds = [], pinned = [], rules } = draft;
  requireShareable(call, { sharing: draft.sharing, pinned, userIds });
  if (draft.ofServer) requirePermission(who, 'item:edit');
  refuseMixed(draft);
  await requireKnown(call, userIds);
  if (rules) {
    await checkSmartRules(call, rules, ['body', 'rules']);
    await countRules(call, rules, ['body', 'rules', 'match']);
  }
  await requireItems(call, itemIds);
  const id = await insertCollection(db, {
    ...{ name: draft.name, overview: draft.overview || null, kind: draft.kind, sharing: draft.sharing, pinned },
    ...{ ownerId: draft.ofServer ? null : who.accountId, rules: rules ?? null, sort: storedSort(draft.sort) },
  });
  await addItems(db, id, { itemIds, byHand: true });
  await shareWith(call, id, userIds);
  if (itemIds.length > 0) await queueMosaic(call, id);
  return toDetail(call, await getCollectionRow(call, id));
}

/** The order by hand, and that of the rules, is stored as none. */
export const storedSort = (sort: string | undefined): string | null =>
  sort === undefined || sort === 'manual' ? null : sort;

/** Throws 400 for items of a smart one, for rules of a manual one, and for a smart one without rules. */
function refuseMixed({ kind, rules, itemIds, sort }: CollectionDraft): void {
  if (kind === 'smart' && !rules) throw invalid(['body', 'rules'], 'required', 'a smart collection has rules');
  if (kind === 'smart' && itemIds)
    throw invalid(['body', 'itemIds'], 'not_manual', 'a smart collection makes its items itself');
  if (kind === 'manual' && rules) throw invalid(['body', 'rules'], 'not_smart', 'only a smart collection has rules');
  refuseMixedSort(sort);
}

/** Throws 400 for the order by hand together with other sorts. */
export function refuseMixedSort(sort: string | undefined): void {
  if (sort !== undefined && sort !== 'manual' && /(^|,)-?manual(,|$)/.test(sort))
    throw invalid(['body', 'sort'], 'not_alone', 'manual stands alone');
}
