import { listVisibleLibraries } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { printConditions, rawConditions } from '#kernel/filter.ts';
import { toFilters } from './answer.ts';
import { findFilterById } from './filters.store.ts';

/** A saved filter as a list takes it. */
export interface AppliedFilter {
  name: string;
  libraryId: string;
  /** Without broken conditions; empty when none is left. */
  filter: string;
  sort: string;
}

/** Undefined for an unknown filter, one of others that is not shared, and one of a hidden library. */
export async function findAppliedFilter(
  call: Pick<Call, 'db' | 'who'>,
  id: string,
): Promise<AppliedFilter | undefined> {
  const row = await findFilterById(call.db, call.who, id);
  const [library] = row ? await listVisibleLibraries(call.db, call.who, [row.library_id]) : [];
  if (!row || !library) return undefined;
  const [read] = await toFilters(call, library, [row]);
  const broken = new Set(read?.broken.map(({ condition }) => condition));
  const kept = rawConditions(row.filter).filter((_, at) => !broken.has(at));
  return { name: row.name, libraryId: row.library_id, filter: printConditions(kept), sort: row.sort };
}
