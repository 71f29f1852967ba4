// Changes of types of libraries and of custom fields.
import type {
  CreateCustomFieldBody,
  CreateLibraryTypeBody,
  UpdateCustomFieldBody,
  UpdateLibraryTypeBody,
} from 'foyer-client';
import { api } from '#core/api/client.ts';
import { query, queryClient } from '#core/cache/query.ts';

const again = (name: 'listLibraryTypes' | 'listCustomFields'): Promise<void> =>
  queryClient.invalidateQueries({ queryKey: query(name).queryKey.slice(0, 1) });

export async function createType(body: CreateLibraryTypeBody): Promise<void> {
  await api.createLibraryType({ body });
  await again('listLibraryTypes');
}

export async function changeType(key: string, body: UpdateLibraryTypeBody): Promise<void> {
  await api.updateLibraryType({ params: { key }, body });
  await again('listLibraryTypes');
}

export async function deleteType(key: string): Promise<void> {
  await api.deleteLibraryType({ params: { key } });
  await again('listLibraryTypes');
}

export async function createField(body: CreateCustomFieldBody): Promise<void> {
  await api.createCustomField({ body });
  await again('listCustomFields');
}

export async function changeField(id: string, body: UpdateCustomFieldBody): Promise<void> {
  await api.updateCustomField({ params: { id }, body });
  await again('listCustomFields');
}

export async function deleteField(id: string): Promise<void> {
  await api.deleteCustomField({ params: { id } });
  await again('listCustomFields');
}
