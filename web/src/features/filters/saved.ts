// The saved filters of a library.
import type { SavedFilter, SaveFilterBody } from 'foyer-client';
import { api } from '#core/api/client.ts';
import { invalidate, query } from '#core/cache/query.ts';
import { parseFilter, printFilter } from '#core/filter/parse.ts';

export const savedQuery = (libraryId: string) => query('listSavedFilters', { params: { id: libraryId } });

const stale = (): void => {
  for (const name of ['listSavedFilters', 'getHome', 'getHomeRow'] as const) void invalidate(name);
};

/** The filter without conditions whose field or value is gone. */
export function appliedText({ filter, broken }: Pick<SavedFilter, 'filter' | 'broken'>): string {
  const gone = new Set(broken.map(({ condition }) => condition));
  return printFilter(parseFilter(filter).filter((_, at) => !gone.has(at)));
}

/** The address of the library with the filter. */
export function hrefOf(saved: Pick<SavedFilter, 'libraryId' | 'filter' | 'broken' | 'sort'>): string {
  const filter = appliedText(saved);
  return `/library/${saved.libraryId}?${new URLSearchParams({ ...(filter && { filter }), sort: saved.sort })}`;
}

/** A UUID of version 4; crypto.randomUUID is absent on plain http. */
function uuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = [...bytes].map((one) => one.toString(16).padStart(2, '0')).join('');
  return hex.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5');
}

export async function save(libraryId: string, body: SaveFilterBody): Promise<void> {
  await api.saveFilter({ params: { id: libraryId, filterId: uuid() }, body });
  stale();
}

/** Replaces a filter; members that are not named stay. */
export async function change(saved: SavedFilter, more: Partial<SaveFilterBody>): Promise<void> {
  const { id, libraryId, name, filter, sort, view, groupBy, icon, position, pinned, shared } = saved;
  const body = {
    name,
    filter,
    sort,
    position,
    pinned,
    shared,
    ...(view && { view }),
    ...(groupBy && { groupBy }),
    ...(icon && { icon }),
  };
  await api.saveFilter({ params: { id: libraryId, filterId: id }, body: { ...body, ...more } });
  stale();
}

export async function remove({ id, libraryId }: Pick<SavedFilter, 'id' | 'libraryId'>): Promise<void> {
  await api.deleteSavedFilter({ params: { id: libraryId, filterId: id } });
  stale();
}
