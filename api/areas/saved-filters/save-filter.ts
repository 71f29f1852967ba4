import {
  atPath,
  checkList,
  fieldsFor,
  getVisibleLibrary,
  heldTypesOf,
  knowCustomFields,
  type LibraryRow,
  sortNames,
} from '#areas/items/public.ts';
import { emitState } from '#areas/playback/public.ts';
import { requirePermission } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, notFound } from '#kernel/errors.ts';
import { parseFilter } from '#kernel/filter.ts';
import { existing } from '#platform/db.ts';
import { toFilters } from './answer.ts';
import { findFilter, isTaken, lockFilters, readFilter, refuseTooMany, writeFilter } from './filters.store.ts';
import type { FilterDraft, SavedFilter } from './saved-filters.schemas.ts';

interface Saving {
  libraryId: string;
  id: string;
  draft: FilterDraft;
}

/** Creates or replaces a filter. Throws 400, 403, 404 and 409 as the operation says. */
export async function saveFilter(call: Call, { libraryId, id, draft }: Saving): Promise<SavedFilter> {
  const { db, who } = call;
  if (!who.profileId) throw new ApiError('FORBIDDEN', 'This key has no profile', { by: 'api-key' });
  const library = await getVisibleLibrary(db, who, libraryId);
  await checkDraft(call, library, draft);
  await lockFilters(db, libraryId);
  const before = await findFilter(db, who, { libraryId, id });
  if (!before && (await isTaken(db, id))) throw notFound();
  if (draft.shared || before?.shared) requirePermission(who, 'library:manage');
  const profileId = before?.profile_id ?? who.profileId;
  await refuseTooMany(db, { id, libraryId, profileId }, draft.shared);
  await writeFilter(db, { id, libraryId, profileId }, draft);
  await emitState(call, { what: ['preferences'], itemIds: [] });
  if (!before) call.reply.status(201);
  const [saved] = await toFilters(call, library, [await readFilter(db, id)]);
  return existing(saved);
}

/** Throws 400 with the number of each condition, as if the filter were applied now. */
async function checkDraft(call: Call, library: LibraryRow, { filter, sort }: FilterDraft): Promise<void> {
  await knowCustomFields(call, { texts: [filter] });
  parseFilter(filter, fieldsFor(call.who, heldTypesOf(library)), { path: ['body', 'filter'] });
  await checkList(call, { sort, fallback: 'title', sorts: sortNames }).catch((error: unknown) => {
    throw atPath(error, ['body', 'sort']);
  });
}
