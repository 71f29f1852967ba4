import { type Call, defineEndpoint, json } from '#kernel/endpoint.ts';
import { ApiError, type Issue, invalidAll, notFound } from '#kernel/errors.ts';
import { answerUnlessSame } from '#kernel/etag.ts';
import { filterQuery, parseFilter } from '#kernel/filter.ts';
import { page, pageOf, parseSort } from '#kernel/page.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import { groupOf, isSettingKey, type SettingKey, savedRows, settingKeys } from '#platform/settings.ts';
import { changeSettings, parsed } from './change.ts';
import { checkGroup } from './checks.ts';
import { choicesNow } from './choices.ts';
import {
  ChangedSettings,
  ChangesQuery,
  changeSorts,
  KeyParams,
  OneSetting,
  Setting,
  SettingChange,
  SettingCheck,
  SettingsAnswer,
  SettingsChange,
  SettingsQuery,
  SettingsSchema,
  SettingsSchemaQuery,
  SettingsToCheck,
} from './settings.schemas.ts';
import { type ChangeRow, changeFields, selectChanges } from './settings.store.ts';
import { groupsOf, isSecret, toChange, toSetting, toSpec } from './settings.view.ts';
import { settingsLanguage } from './texts.ts';

const CHECKS_A_MINUTE = 10;
const access = { permission: 'settings:manage' } as const;

async function shown({ deps }: Call, keys: readonly SettingKey[]): Promise<Setting[]> {
  const saved = await deps.settings.reload(); // what another replica wrote a moment ago counts
  return keys.map((key) => toSetting(deps, key, saved.get(key)));
}

export const getSettings = defineEndpoint({
  operationId: 'getSettings',
  method: 'get',
  path: '/settings',
  summary: 'Read all settings, or some',
  access,
  query: SettingsQuery,
  answer: json(200, SettingsAnswer),

  async handle({ query }, call) {
    const wanted = settingKeys.filter(
      (key) => (!query.group || groupOf(key) === query.group) && (!query.keys || query.keys.includes(key)),
    );
    const all = await shown(call, wanted);
    const items = all.filter(({ source }) => !query.source || source === query.source);
    const open = items.filter(({ key }) => !isSecret(key as SettingKey));
    const values = Object.fromEntries(open.map(({ key, value }) => [key, value]));
    return answerUnlessSame(call, { revision: call.deps.settings.revision(), values, items });
  },
});

export const updateSettings = defineEndpoint({
  operationId: 'updateSettings',
  method: 'patch',
  path: '/settings',
  summary: 'Change settings: all of them, or none',
  access,
  body: SettingsChange,
  answer: json(200, ChangedSettings),
  errors: ['CONFLICT'],
  emits: ['settings.changed'],

  async handle({ body }, call) {
    const outcome = await changeSettings(call, body);
    return { ...outcome, items: await after(call, outcome.changed, parsed(body.values)) };
  },
});

/** As they will be once the change is committed; the memory of this process still has the old ones. */
async function after(
  call: Call,
  changed: readonly SettingKey[],
  values: Partial<Record<SettingKey, unknown>>,
): Promise<Setting[]> {
  const saved = await savedRows(call.db);
  return changed.map((key) => {
    const before = toSetting(call.deps, key, saved.get(key));
    const wanted = values[key];
    const { value, source } =
      wanted === null ? call.deps.settings.unsaved(key) : { value: wanted, source: 'saved' as const };
    return { ...before, source, ...(isSecret(key) ? { isSet: value !== null } : { value }) };
  });
}

export const getSettingsSchema = defineEndpoint({
  operationId: 'getSettingsSchema',
  method: 'get',
  path: '/settings/schema',
  summary: 'Describe every setting',
  access,
  query: SettingsSchemaQuery,
  answer: json(200, SettingsSchema),

  async handle({ query }, call) {
    const keys = settingKeys.filter((key) => !query.group || groupOf(key) === query.group);
    const { config, settings } = call.deps;
    const texts = settingsLanguage(query.language ?? call.who.language ?? settings.get('server.language'));
    const described = { config, texts, choices: await choicesNow(call.deps) };
    return answerUnlessSame(call, {
      groups: groupsOf(texts, keys),
      items: keys.map((key) => toSpec(described, key)),
    });
  },
});

export const getSetting = defineEndpoint({
  operationId: 'getSetting',
  method: 'get',
  path: '/settings/:key',
  summary: 'Read a setting',
  access,
  params: KeyParams,
  answer: json(200, Setting),

  async handle({ params }, call) {
    if (!isSettingKey(params.key)) throw notFound();
    const [setting] = await shown(call, [params.key]);
    if (!setting) throw notFound();
    return setting;
  },
});

export const setSetting = defineEndpoint({
  operationId: 'setSetting',
  method: 'put',
  path: '/settings/:key',
  summary: 'Set one setting',
  access,
  params: KeyParams,
  body: OneSetting,
  answer: json(200, Setting),
  errors: ['CONFLICT', 'NOT_FOUND'],
  emits: ['settings.changed'],

  async handle({ params: { key }, body }, call) {
    if (!isSettingKey(key)) throw notFound();
    const values = { [key]: body.value };
    const { changed } = await changeSettings(call, { values, note: body.note, dryRun: false }).catch(asOfOne);
    const [setting] = await (changed.length > 0 ? after(call, [key], parsed(values)) : shown(call, [key]));
    if (!setting) throw notFound();
    return setting;
  },
});

/** What is wrong with the one value is said of where it was written. */
function asOfOne(error: unknown): never {
  if (!(error instanceof ApiError) || error.code !== 'VALIDATION_FAILED') throw error;
  const { issues } = error.details as { issues: Issue[] };
  throw invalidAll(issues.map(({ path, ...issue }) => ({ ...issue, path: ['body', 'value', ...path.slice(3)] })));
}

export const checkSettings = defineEndpoint({
  operationId: 'checkSettings',
  method: 'post',
  path: '/settings/check',
  summary: 'Try what settings say, saving nothing',
  access,
  body: SettingsToCheck,
  answer: json(200, SettingCheck),
  errors: ['RATE_LIMITED'],
  transaction: 'manual',

  async handle({ body }, call) {
    const { deps, who } = call;
    const limiter = { redis: deps.redis, replicas: deps.config.replicas };
    await limitAttempts(limiter, `settings-check:${who.accountId}`, CHECKS_A_MINUTE);
    const laid = parsed(body.values ?? {});
    return checkGroup(call, body.group, (key) => (Object.hasOwn(laid, key) ? laid[key] : deps.settings.get(key)));
  },
});

export const listSettingChanges = defineEndpoint({
  operationId: 'listSettingChanges',
  method: 'get',
  path: '/settings/history',
  summary: 'List who changed which setting',
  access,
  query: ChangesQuery.extend({ filter: filterQuery(changeFields, 'source, user, at') }),
  answer: page(SettingChange),

  async handle({ query }, call) {
    const { db, deps, now } = call;
    const { cursor, limit, sort, filter, key, group } = query;
    const rules = filter ? parseFilter(filter, changeFields) : { all: [] };
    return pageOf<ChangeRow, SettingChange>(db, selectChanges(db, { key, group, rules, now }), {
      keys: deps.keys,
      terms: parseSort(sort, changeSorts, '-at'),
      cursor,
      limit,
      scope: JSON.stringify(['listSettingChanges', key, group, filter]),
      idColumn: 'c.id',
      toItem: toChange,
    });
  },
});
