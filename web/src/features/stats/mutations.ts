import { api } from '#core/api/client.ts';
import { invalidate } from '#core/cache/query.ts';

async function forget(query: { ids?: string; all?: boolean }): Promise<void> {
  await api.deleteHistory({ query });
  await Promise.all([invalidate('listHistory'), invalidate('getStats')]);
}

export const forgetOne = (id: string): Promise<void> => forget({ ids: id });
export const forgetAll = (): Promise<void> => forget({ all: true });
