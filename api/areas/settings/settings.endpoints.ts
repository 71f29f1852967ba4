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

async function readSettings({ deps }: Call, keys: readonly SettingKey[]): Promise<Setting[]> {
  const saved = await deps.settings.reload(); // another replica may have written a moment ago
  return keys.map((key) => toSetting(deps, key, saved.get(key)));
}

export const getSettings = defineEndpoint({
  operationId: 'getSettings',
  method: 'get',
  path: '/settings',
  summary: 'List settings with their values',
  description:
    'Returns all settings in one answer, or those that match `group`, `keys` and `source`. The value in force comes from the first of: the MediaServer resource, the saved value, the environment, the default. Secrets are left out of `values`; `isSet` of their item shows whether they have a value. The answer carries an ETag.',
  access,
  query: SettingsQuery,
  answer: json(200, SettingsAnswer),

  async handle({ query }, call) {
    const wanted = settingKeys.filter(
      (key) => (!query.group || groupOf(key) === query.group) && (!query.keys || query.keys.includes(key)),
    );
    const all = await readSettings(call, wanted);
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
  summary: 'Update several settings at once',
  description:
    'Writes all values in one transaction or none; a 400 lists every issue. null deletes the saved value, so that the environment or the default applies again. With `dryRun` everything is checked and nothing is written. A 409 reports `revision` (with the keys that changed since), `managed-by-resource` for keys that a resource declares, or `locks-out` when the caller could no longer sign in.',
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

/** The settings after the commit; the memory of this process still holds the old values. */
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
  summary: 'Get the definitions of all settings',
  description:
    "Returns type, bounds, default, title and description of every setting, from which a form can be built. Texts are in `language`, by default the caller's. Choices that depend on the deployment list the values that are available now.",
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
  summary: 'Get a setting',
  description: 'The value of a secret is never returned; `isSet` shows whether it has one. An unknown key is a 404.',
  access,
  params: KeyParams,
  answer: json(200, Setting),

  async handle({ params }, call) {
    if (!isSettingKey(params.key)) throw notFound();
    const [setting] = await readSettings(call, [params.key]);
    if (!setting) throw notFound();
    return setting;
  },
});

export const setSetting = defineEndpoint({
  operationId: 'setSetting',
  method: 'put',
  path: '/settings/:key',
  summary: 'Set a setting',
  description: 'Does the same as updateSettings with a single key, and is idempotent. null deletes the saved value.',
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
    const [setting] = await (changed.length > 0 ? after(call, [key], parsed(values)) : readSettings(call, [key]));
    if (!setting) throw notFound();
    return setting;
  },
});

/** Reports issues of the single value at its place in this request. */
function asOfOne(error: unknown): never {
  if (!(error instanceof ApiError) || error.code !== 'VALIDATION_FAILED') throw error;
  const { issues } = error.details as { issues: Issue[] };
  throw invalidAll(issues.map(({ path, ...issue }) => ({ ...issue, path: ['body', 'value', ...path.slice(3)] })));
}

export const checkSettings = defineEndpoint({
  operationId: 'checkSettings',
  method: 'post',
  path: '/settings/check',
  summary: 'Test a group of settings without saving them',
  description:
    'Uses the given values in place of those in force and tries them for real, for example by reading the discovery document of an OpenID issuer. A failed step is a 200 with `ok` false. Limited to 10 requests a minute for each account.',
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
  summary: 'List changes of settings',
  description:
    'Returns who changed which setting, with the values before and after; values of secrets are never recorded. Newest first. To undo a change, write the former value.',
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
