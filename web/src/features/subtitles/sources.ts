// What the page of subtitle sources reads and saves.
import type { Library, SetCatalogueKeysBody } from 'foyer-client';
import { api } from '#core/api/client.ts';
import { invalidate } from '#core/cache/query.ts';
import type { Option } from './subtitles.ts';

export const KEYS = {
  apiKey: 'opensubtitles.apiKey',
  username: 'opensubtitles.username',
  password: 'opensubtitles.password',
} as const;

export type Keys = Record<keyof typeof KEYS, string>;

export interface Folder {
  storageId: string;
  path: string;
}

export interface Access {
  find: 'everyone' | 'admins';
  daily: string;
}

/** The keys that were typed; an empty field keeps the saved key. */
export function typedKeys(typed: Keys): SetCatalogueKeysBody {
  const names = Object.keys(KEYS) as (keyof Keys)[];
  return Object.fromEntries(names.flatMap((name) => (typed[name].trim() ? [[KEYS[name], typed[name].trim()]] : [])));
}

export function folderOf(values: Record<string, unknown>): Folder {
  const text = (key: string): string => (typeof values[key] === 'string' ? (values[key] as string) : '');
  return { storageId: text('subtitles.folder.storageId'), path: text('subtitles.folder.path') };
}

/** The storages that libraries are on. */
export function storagesOf(libraries: readonly Library[]): Option[] {
  const all = libraries.flatMap(({ folders }) => folders ?? []);
  const names = new Map(all.map(({ storageId, storageName }) => [storageId, storageName]));
  return [...names].map(([value, label]) => ({ value, label }));
}

/** Anything but digits goes to the server as it is, which refuses it. */
const numberOf = (text: string): number | string => (/^\d{1,4}$/.test(text.trim()) ? Number(text) : text);

export async function saveSources({
  keys,
  folder,
  access,
}: {
  keys: SetCatalogueKeysBody;
  folder: Folder;
  access: Access;
}): Promise<void> {
  const hasFolder = folder.storageId !== '';
  await api.updateSettings({
    body: {
      values: {
        'subtitles.folder.storageId': hasFolder ? folder.storageId : null,
        'subtitles.folder.path': hasFolder ? folder.path.trim() : null,
        'subtitles.tools.find': access.find,
        'subtitles.dailyAllowance': numberOf(access.daily),
      },
    },
  });
  // last, so that a setting that is refused leaves the form with its keys
  if (Object.keys(keys).length > 0) await api.setCatalogueKeys({ body: keys });
  await Promise.all([
    invalidate('listCatalogueKeys'),
    invalidate('getSettings'),
    invalidate('getSubtitleCapabilities'),
  ]);
}
