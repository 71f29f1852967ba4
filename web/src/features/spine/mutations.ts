import type { ImportSpinePackBody, ImportSpinePackResponse } from 'foyer-client';
import { api } from '#core/api/client.ts';
import { invalidate } from '#core/cache/query.ts';

async function changed(body: ImportSpinePackBody | FormData): Promise<ImportSpinePackResponse> {
  const answer = await api.importSpinePack({ body });
  await invalidate('getSpine');
  return answer;
}

/** Loads a pack from a file of this device. The server checks its signature before it answers. */
export function uploadPack(file: File): Promise<ImportSpinePackResponse> {
  const body = new FormData();
  body.append('file', file);
  return changed(body);
}

export const fetchPack = (url: string): Promise<ImportSpinePackResponse> => changed({ url });

/** Loads the pack that the last check found. */
export const updatePack = (): Promise<ImportSpinePackResponse> => changed({ current: true });

export const removePack = (id: string): Promise<ImportSpinePackResponse> => changed({ remove: id });
