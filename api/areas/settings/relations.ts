import type { Issue } from '#kernel/errors.ts';
import type { SettingKey } from '#platform/settings.ts';

type Value = (key: SettingKey) => unknown;

interface Relation {
  keys: readonly SettingKey[];
  broken: (value: Value) => boolean;
  message: string;
}

/** Rules between keys, checked on the result of a change. */
const RULES: readonly Relation[] = [
  {
    keys: ['email.enabled', 'email.smtp.host', 'email.from'],
    broken: (value) => value('email.enabled') === true && (!value('email.smtp.host') || !value('email.from')),
    message: 'mail needs email.smtp.host and email.from',
  },
  {
    keys: ['auth.oidc.issuer', 'auth.oidc.clientId'],
    broken: (value) => value('auth.oidc.issuer') !== null && value('auth.oidc.clientId') === null,
    message: 'an issuer needs auth.oidc.clientId',
  },
  {
    keys: ['auth.oidc.roleMap', 'auth.oidc.groupsClaim'],
    broken: (value) => !isEmpty(value('auth.oidc.roleMap')) && value('auth.oidc.groupsClaim') === null,
    message: 'a role map needs auth.oidc.groupsClaim',
  },
  {
    keys: ['music.listenBrainz', 'music.listenBrainzToken'],
    broken: (value) => value('music.listenBrainz') === true && value('music.listenBrainzToken') === null,
    message: 'listens need music.listenBrainzToken',
  },
  {
    keys: ['subtitles.folder.storageId', 'subtitles.folder.path'],
    broken: (value) => (value('subtitles.folder.path') !== null) !== (value('subtitles.folder.storageId') !== null),
    message: 'the folder needs both a storage and a path',
  },
];

const WARNINGS: readonly (Relation & { key: SettingKey })[] = [
  {
    key: 'email.smtp.allowUntrusted',
    keys: ['email.smtp.allowUntrusted'],
    broken: (value) => value('email.smtp.allowUntrusted') === true,
    message: 'anyone on the way can read the mail and its password',
  },
  {
    key: 'transcode.maxWorkers',
    keys: ['transcode.maxWorkers'],
    broken: (value) => value('transcode.maxWorkers') === 0,
    message: 'nothing is encoded: many files will not play',
  },
];

const isEmpty = (value: unknown): boolean => Object.keys(Object(value)).length === 0;
const touched = (relation: Relation, keys: readonly SettingKey[]): boolean =>
  relation.keys.some((key) => keys.includes(key));

export function relationIssues(value: Value, changed: readonly SettingKey[]): Issue[] {
  const broken = RULES.filter((rule) => touched(rule, changed) && rule.broken(value));
  return broken.map(({ keys, message }) => ({
    path: ['body', 'values', keys.find((key) => changed.includes(key)) ?? ''],
    code: 'incomplete',
    message,
  }));
}

export function relationWarnings(value: Value, changed: readonly SettingKey[]): { key: string; message: string }[] {
  const broken = WARNINGS.filter((rule) => touched(rule, changed) && rule.broken(value));
  return broken.map(({ key, message }) => ({ key, message }));
}
