import { z } from 'zod';
import { textsOf } from '#platform/languages.ts';
import { groupOf, type SettingKey, settingKeys } from '#platform/settings.ts';

const Text = z.strictObject({ title: z.string(), description: z.string() });
type Text = z.output<typeof Text>;

/** The keys of all queues share one text with the placeholder `{queue}`. */
const QUEUES = 'jobs.concurrency';
const placeOf = (key: SettingKey): string => (groupOf(key) === QUEUES ? QUEUES : key);

export const groupIds: readonly string[] = [...new Set(settingKeys.map(groupOf))];
export const SettingsTexts = z.strictObject({
  groups: z.record(z.enum(groupIds), Text),
  keys: z.record(z.enum([...new Set(settingKeys.map(placeOf))]), Text),
});
export type SettingsTexts = z.output<typeof SettingsTexts>;

/** By BCP 47 tag; English is the fallback. */
export const settingsLanguage = textsOf('settings', SettingsTexts);

export function textOfSetting(texts: SettingsTexts, key: SettingKey): Text {
  const { title, description } = texts.keys[placeOf(key)] ?? { title: key, description: key };
  const named = (text: string): string => text.replaceAll('{queue}', () => key.slice(QUEUES.length + 1));
  return { title: named(title), description: named(description) };
}
