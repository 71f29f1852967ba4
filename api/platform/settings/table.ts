import { z } from 'zod';
import { type Definition, setting } from './define.ts';
import { mediaKeys } from './media-keys.ts';
import { otherKeys } from './other-keys.ts';
import { serverKeys } from './server-keys.ts';

/** Every setting; no other key can be stored or read. */
export const settingTable = { ...serverKeys, ...mediaKeys, ...otherKeys } satisfies Record<string, Definition>;

export type SettingKey = keyof typeof settingTable;
export type SettingValue<K extends SettingKey> = z.output<(typeof settingTable)[K]['schema']>;

export const settingKeys = Object.keys(settingTable) as SettingKey[];

export const isSettingKey = (text: string): text is SettingKey => Object.hasOwn(settingTable, text);

export const definitionOf = (key: SettingKey): Definition => settingTable[key];

/** Documents that their own areas store and that `settings.changed` also names. */
export const documentTable = {
  'playback.preroll': setting(z.record(z.string(), z.unknown()).nullable().default(null), 'Playback'),
} satisfies Record<string, Definition>;

export type StoredKey = SettingKey | keyof typeof documentTable;
type Stored = typeof settingTable & typeof documentTable;
export type StoredValue<K extends StoredKey> = z.output<Stored[K]['schema']>;

export const storedTable: Stored = { ...settingTable, ...documentTable };

const PUBLIC_DOCUMENTS = /^(branding\.|library-types\.|(themes\.default|icons\.active|home\.layout|plus\.licence)$)/;

/** Whether everyone is notified of changes: settings marked P, and documents with the same mark. */
export const isPublicKey = (key: string): boolean =>
  isSettingKey(key) ? definitionOf(key).marks.includes('P') : PUBLIC_DOCUMENTS.test(key);

/** The part before the last dot: `auth.oidc` of `auth.oidc.issuer`; `server` of `server.name`. */
export const groupOf = (key: SettingKey): string => key.slice(0, key.lastIndexOf('.'));
