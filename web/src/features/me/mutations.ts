// Changes that a person makes to the own profile.
import type { ThemeSelection } from 'foyer-client';
import { api } from '#core/api/client.ts';
import { query, queryClient } from '#core/cache/query.ts';

/** Shows the selection at once; what the server answers is shown after it. */
export async function chooseLook(selection: ThemeSelection): Promise<void> {
  const { queryKey } = query('listThemes');
  const before = queryClient.getQueryData<object>(queryKey);
  queryClient.setQueryData(queryKey, { ...before, selection });
  try {
    const chosen = await api.setThemeSelection({ body: { selection } });
    queryClient.setQueryData(queryKey, { ...before, ...chosen });
  } catch (error) {
    queryClient.setQueryData(queryKey, before);
    throw error;
  }
}
