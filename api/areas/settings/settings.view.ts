import { z } from 'zod';
import type { Deps } from '#kernel/endpoint.ts';
import { iso } from '#kernel/schemas.ts';
import { definitionOf, groupOf, type SavedRow, type SettingKey } from '#platform/settings.ts';
import { checkGroups, type Setting, type SettingChange, type SettingSpec } from './settings.schemas.ts';
import type { ChangeRow } from './settings.store.ts';
import { groupIds, type SettingsTexts, textOfSetting } from './texts.ts';

export const isSecret = (key: SettingKey): boolean => definitionOf(key).marks.includes('S');

export const defaultOf = (key: SettingKey): unknown => definitionOf(key).schema.parse(undefined);

/** One setting for those who manage settings; of a secret, only whether it is set. */
export function toSetting(
  { settings, config }: Pick<Deps, 'settings' | 'config'>,
  key: SettingKey,
  saved: SavedRow | undefined,
): Setting {
  const source = settings.sourceOf(key);
  const value = settings.get(key);
  const secret = isSecret(key);
  const managed = Object.hasOwn(config.declaredSettings, key);
  return {
    key,
    value: secret ? null : value,
    ...(secret && { isSet: value !== null }),
    source,
    default: secret ? null : defaultOf(key),
    ...(managed && config.managedBy && { managedBy: config.managedBy }),
    ...(saved && { updatedAt: iso(saved.updated_at) }),
    ...(saved?.updated_by && { updatedBy: { userId: saved.updated_by, displayName: saved.display_name ?? '' } }),
  };
}

const ENVIRONMENT: Partial<Record<SettingKey, string>> = {
  'server.name': 'FOYER_SERVER_NAME',
  'network.trustedProxies': 'FOYER_TRUSTED_PROXIES',
};

/** What descriptions depend on: the texts of the language, and the choices of this deployment. */
export interface Described {
  config: Deps['config'];
  texts: SettingsTexts;
  choices: Partial<Record<SettingKey, readonly string[]>>;
}

export function toSpec({ config, texts, choices }: Described, key: SettingKey): SettingSpec {
  const { schema, area, marks } = definitionOf(key);
  const shape = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Record<string, unknown>;
  const { $schema: _, ...open } = shape;
  const values = choices[key];
  const json = values ? { ...open, enum: values } : open;
  const environment = ENVIRONMENT[key];
  return {
    key,
    group: groupOf(key),
    ...textOfSetting(texts, key),
    type: typeOf(key, json),
    schema: json,
    default: isSecret(key) ? null : defaultOf(key),
    ...(typeOf(key, json) === 'bytes' && { unit: 'bytes' }),
    secret: marks.includes('S'),
    public: marks.includes('P'),
    ownerOnly: marks.includes('O'),
    checkable: (checkGroups as readonly string[]).includes(groupOf(key)),
    restarts: false,
    affects: [area],
    advanced: key.startsWith('jobs.') || key.startsWith('network.'),
    ...(environment && { environment }),
    managed: Object.hasOwn(config.declaredSettings, key),
  };
}

interface JsonShape {
  type?: string;
  enum?: unknown[];
  anyOf?: JsonShape[];
}

const TYPES: Record<string, SettingSpec['type']> = {
  array: 'list',
  object: 'map',
  boolean: 'boolean',
  number: 'number',
};

function typeOf(key: SettingKey, json: JsonShape): SettingSpec['type'] {
  const shape = json.anyOf?.find(({ type }) => type !== 'null') ?? json;
  if (shape.enum) return 'enum';
  if (key.endsWith('Bytes')) return 'bytes';
  if (/(Id|libraries)$/.test(key) && shape.type === 'string') return 'reference';
  return shape.type === 'integer' ? 'integer' : (TYPES[shape.type ?? ''] ?? 'string');
}

/** Groups of the given keys, in the order of the table. */
export function groupsOf(
  texts: SettingsTexts,
  keys: readonly SettingKey[],
): { id: string; title: string; description: string; order: number }[] {
  const shown = new Set(keys.map(groupOf));
  return groupIds.flatMap((id, order) => {
    const { title, description } = texts.groups[id] ?? { title: id, description: id };
    return shown.has(id) ? [{ id, title, description, order }] : [];
  });
}

export function toChange(row: ChangeRow): SettingChange {
  const { account_id: userId, key_name: keyName } = row;
  return {
    id: row.id,
    key: row.key,
    from: row.before,
    to: row.after,
    source: row.source,
    ...(userId && { by: { userId, displayName: row.display_name ?? '', ...(keyName && { keyName }) } }),
    at: iso(row.at),
    revision: row.revision,
    ...(row.note && { note: row.note }),
  };
}
