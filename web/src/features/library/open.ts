// A library that is opened: what the list of libraries knows of it is shown at once.
import { keyOf } from '#core/api/keys.ts';
import { query, queryClient } from '#core/cache/query.ts';

/** Begins the query of a library with its entry in the list of libraries; one that is not listed is requested. */
export async function openLibrary(id: string): Promise<void> {
  const own = query('getLibrary', { params: { id } });
  const listed = await queryClient.ensureQueryData(query('listLibraries')).catch(() => []);
  const library = listed.find((one) => one.id === id);
  const { dataUpdatedAt: updatedAt = 0 } = queryClient.getQueryState(keyOf('listLibraries', {})) ?? {};
  if (library && !queryClient.getQueryData(own.queryKey))
    queryClient.setQueryData(own.queryKey, library, { updatedAt });
  await queryClient.prefetchQuery(own);
}
