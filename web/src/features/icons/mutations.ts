// Changes of icon sets and icons.
import type { CreateIconSetBody, IconUploadResult, UpdateIconBody, UpdateIconSetBody } from 'foyer-client';
import { api } from '#core/api/client.ts';
import { invalidate } from '#core/cache/query.ts';

async function changed<T>(work: Promise<T>): Promise<T> {
  const answer = await work;
  await Promise.all([invalidate('listIconSets'), invalidate('getIconSet'), invalidate('listIcons')]);
  return answer;
}

export const createSet = (body: CreateIconSetBody): Promise<unknown> => changed(api.createIconSet({ body }));

export const changeSet = (id: string, body: UpdateIconSetBody): Promise<unknown> =>
  changed(api.updateIconSet({ params: { id }, body }));

export const deleteSet = (id: string): Promise<unknown> => changed(api.deleteIconSet({ params: { id } }));

export function upload(id: string, files: Iterable<File>): Promise<IconUploadResult> {
  const body = new FormData();
  body.append('onDuplicate', 'replace');
  for (const file of files) body.append('files', file);
  return changed(api.addIcons({ params: { id }, body }));
}

export const changeIcon = (id: string, body: UpdateIconBody): Promise<unknown> =>
  changed(api.updateIcon({ params: { id }, body }));

export const deleteIcon = (id: string, force: boolean): Promise<unknown> =>
  changed(api.deleteIcon({ params: { id }, query: { force } }));
