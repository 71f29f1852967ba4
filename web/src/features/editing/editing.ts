// Requests of the editing drawer, and which answers they make old.
import type { FileDetail, ItemDetail, ItemEdit, Label } from 'foyer-client';
import { api } from '#core/api/client.ts';
import type { Name } from '#core/api/keys.ts';
import { invalidate, query } from '#core/cache/query.ts';
import { shaped } from '#core/editing/fields.ts';

export const fieldsQuery = (id: string) => ({ ...query('getItemFields', { params: { id } }), staleTime: 0 });
export const filesQuery = (id: string) => query('listItemFiles', { params: { id }, query: { include: 'chapters' } });
export const labelsQuery = () => query('listLabels', { query: { limit: 200 } });
export const ownLabelsQuery = (id: string) => query('listLabels', { query: { itemId: id, limit: 200 } });

const OLD: readonly Name[] = [
  ...(['getItem', 'getItemTree', 'getItemFields', 'listItemFiles', 'listItems', 'listLabels'] as const),
  ...(['listLibraryItems', 'getLibraryIndex', 'getLibraryFacets'] as const),
];

/** After a change of fields every answer that carries them is old. */
export function edited(): void {
  for (const name of OLD) void invalidate(name);
}

interface Held {
  fields?: readonly { field: string; value: unknown }[] | undefined;
  files?: readonly FileDetail[] | undefined;
  labels?: readonly Label[] | undefined;
}

/** What the item has now, by the names of a draft. Parts that were not loaded are absent. */
export function heldOf({ fields = [], files = [], labels }: Held): Record<string, unknown> {
  const ofFiles = files.flatMap(({ id, editionLabel, chapters = [] }) => [
    [`edition:${id}`, editionLabel ?? null] as const,
    [`chapters:${id}`, chapters.map(({ title, startMs }) => ({ title, startMs }))] as const,
  ]);
  return {
    ...Object.fromEntries(fields.map(({ field, value }) => [field, shaped(field, value)])),
    ...Object.fromEntries(ofFiles),
    ...(labels && { labels: ownIds(labels) }),
  };
}

const ownIds = (labels: readonly Label[]): string[] =>
  labels
    .filter(({ inheritedFrom }) => inheritedFrom === undefined)
    .map(({ id }) => id)
    .sort();

interface Saving {
  body: ItemEdit;
  revision: number;
  lock: boolean;
  confirm: boolean;
}

export async function save(id: string, { body, revision, lock, confirm }: Saving): Promise<ItemDetail> {
  const headers = { 'if-match': `"${revision}"` };
  const answer = await api.updateItem({ params: { id }, query: { lock, confirm }, headers, body });
  edited();
  return answer;
}

/** `all` stands for every field; without one of them the others are named. */
export async function toggleLock(id: string, field: string, locked: readonly string[]): Promise<void> {
  const others = locked.filter((one) => one !== field && one !== 'all');
  await api.setItemLocks({ params: { id }, body: { fields: locked.includes(field) ? others : [...others, field] } });
  for (const name of ['getItemFields', 'getItem'] as const) void invalidate(name);
}
