// Judges and writes a change of settings: all of it, or nothing.
import type { z } from 'zod';
import type { Call } from '#kernel/endpoint.ts';
import type { Issue } from '#kernel/errors.ts';
import { ApiError, conflict, invalidAll } from '#kernel/errors.ts';
import { requireConfirmed } from '#kernel/person.ts';
import {
  announceSettings,
  definitionOf,
  isSettingKey,
  type SavedRow,
  type SettingKey,
  savedRows,
  storedValue,
} from '#platform/settings.ts';
import { relationIssues, relationWarnings } from './relations.ts';
import { changedSince, lockRevision, type Write, writeSettings } from './settings.store.ts';
import { defaultOf, isSecret } from './settings.view.ts';

export interface Wanted {
  values: Record<string, unknown>;
  revision?: number | undefined;
  dryRun: boolean;
  note?: string | undefined;
}

export interface Outcome {
  revision: number;
  changed: SettingKey[];
  warnings: { key: string; message: string }[];
}

/** A masked secret that a form sends back. */
const MASK = /^[*•]+$/;

export async function changeSettings(call: Call, wanted: Wanted): Promise<Outcome> {
  const { db, who, deps } = call;
  const values = parsed(wanted.values);
  const keys = Object.keys(values) as SettingKey[];
  refuseManaged(call, keys);
  requireOwner(call, keys);
  const revision = await lockRevision(db);
  await refuseStale(call, wanted.revision, revision);
  const saved = await savedRows(db);
  const after = resulting(call, values, saved);
  const issues = relationIssues(after, keys);
  if (issues.length > 0) throw invalidAll(issues);
  refuseLockout(call, after);
  const writes = keys.flatMap((key) => writeOf(call, { key, value: values[key], saved: saved.get(key) }));
  const changed = writes.map(({ key }) => key);
  const outcome = { changed, warnings: relationWarnings(after, keys) };
  if (wanted.dryRun || writes.length === 0) return { revision, ...outcome };
  const by = { accountId: who.accountId, keyName: await keyNameOf(call), note: wanted.note, revision: revision + 1 };
  await writeSettings(db, writes, by);
  await call.emit('settings.changed', { keys: changed });
  call.afterCommit(async () => {
    await announceSettings(deps.redis);
    await deps.settings.reload();
  });
  return { revision: revision + 1, ...outcome };
}

/** Each value as its schema gives it back; null stays null. Throws 400 with every issue. */
export function parsed(given: Record<string, unknown>): Partial<Record<SettingKey, unknown>> {
  const issues: Issue[] = [];
  const values: Partial<Record<SettingKey, unknown>> = {};
  for (const [key, value] of Object.entries(given)) {
    const path = ['body', 'values', key];
    if (!isSettingKey(key)) {
      issues.push({ path, code: 'unknown_field', message: 'no such setting' });
      continue;
    }
    const read = value === null ? { success: true as const, data: null } : definitionOf(key).schema.safeParse(value);
    if (isSecret(key) && typeof value === 'string' && MASK.test(value))
      issues.push({ path, code: 'masked_secret', message: 'the masked form is no secret' });
    else if (read.success) values[key] = read.data;
    else issues.push(...issuesOf(read.error, path));
  }
  if (issues.length > 0) throw invalidAll(issues);
  return values;
}

const issuesOf = (error: z.core.$ZodError, path: string[]): Issue[] =>
  error.issues.map((issue) => {
    const { params } = issue as { params?: { code?: string } };
    return { path: [...path, ...issue.path.map(String)], code: params?.code ?? issue.code, message: issue.message };
  });

function refuseManaged({ deps: { config } }: Call, keys: readonly SettingKey[]): void {
  const owned = keys.filter((key) => Object.hasOwn(config.declaredSettings, key));
  if (owned.length === 0) return;
  const details = { fields: owned, ...(config.managedBy && { managedBy: config.managedBy }) };
  throw conflict('managed-by-resource', 'A Kubernetes resource declares this', details);
}

function requireOwner({ who, now }: Call, keys: readonly SettingKey[]): void {
  if (!keys.some((key) => definitionOf(key).marks.includes('O'))) return;
  if (who.kind !== 'session' || who.role !== 'owner')
    throw new ApiError('FORBIDDEN', 'Only the owner may change this', { by: 'owner' });
  requireConfirmed(who, now);
}

async function refuseStale({ db }: Call, wanted: number | undefined, revision: number): Promise<void> {
  if (wanted === undefined || wanted === revision) return;
  const keys = await changedSince(db, wanted);
  throw conflict('revision', 'The settings were changed meanwhile', { revision, keys });
}

/** Every setting as it would be in force. */
function resulting(
  { deps: { settings, config } }: Call,
  values: Partial<Record<SettingKey, unknown>>,
  saved: ReadonlyMap<string, SavedRow>,
): (key: SettingKey) => unknown {
  return (key) => {
    if (Object.hasOwn(config.declaredSettings, key) || !Object.hasOwn(values, key)) return settings.get(key);
    if (values[key] !== null) return values[key];
    return saved.has(key) && settings.sourceOf(key) === 'saved' ? defaultOf(key) : settings.get(key);
  };
}

/** Without a password nobody but the owner would get in, as long as there is no other way. */
function refuseLockout({ who }: Call, after: (key: SettingKey) => unknown): void {
  const otherWays = after('auth.oidc.issuer') !== null || after('auth.passkeys.enabled') === true;
  if (after('auth.password.enabled') === false && !otherWays && who.role !== 'owner')
    throw conflict('locks-out', 'You could not sign in any more');
}

interface One {
  key: SettingKey;
  value: unknown;
  saved: SavedRow | undefined;
}

/** Nothing when the value is saved and in force already. */
function writeOf({ deps: { settings, keys } }: Call, { key, value, saved }: One): Write[] {
  const secret = isSecret(key);
  const before = saved ? settings.get(key) : undefined;
  if (value === null && !saved) return [];
  if (value !== null && saved && JSON.stringify(before) === JSON.stringify(value)) return [];
  const told = (shown: unknown): string | null => (secret || shown === undefined ? null : JSON.stringify(shown));
  const stored = value === null ? undefined : storedValue(key, value, keys);
  return [{ key, stored, before: told(saved?.value), after: value === null ? null : told(value) }];
}

async function keyNameOf({ db, who }: Call): Promise<string | undefined> {
  if (!who.keyId) return undefined;
  const row = await db('api_keys').where({ id: who.keyId }).first<{ name: string } | undefined>('name');
  return row?.name;
}
