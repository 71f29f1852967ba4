// Validates and writes a change of settings: all of it, or nothing.
import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { requireConfirmed } from '#identity/person.ts';
import type { Call } from '#kernel/endpoint.ts';
import type { Issue } from '#kernel/errors.ts';
import { ApiError, conflict, invalidAll } from '#kernel/errors.ts';
import {
  announceSettings,
  definitionOf,
  isSettingKey,
  openedValue,
  type SavedRow,
  type SettingKey,
  savedRows,
  storedValue,
} from '#platform/settings.ts';
import { relationIssues, relationWarnings } from './relations.ts';
import { changedSince, lockRevision, type Write, writeSettings } from './settings.store.ts';
import { isSecret } from './settings.view.ts';

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

/** The masked form of a secret, which a client may send back. */
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
  if (keys.some((key) => WAYS_IN.includes(key))) await refuseLockout(call, after);
  const writes = keys.flatMap((key) => writeOf(call, { key, value: values[key], saved: saved.get(key) }));
  const changed = writes.map(({ key }) => key);
  const outcome = { changed, warnings: relationWarnings(after, keys) };
  if (wanted.dryRun || writes.length === 0) return { revision, ...outcome };
  const by = { accountId: who.accountId, keyName: await keyNameOf(call), note: wanted.note, revision: revision + 1 };
  await writeSettings(db, writes, by);
  await call.emit('settings.changed', { keys: changed });
  if (changed.some((key) => key.startsWith('subtitles.folder.')))
    await call.enqueue('subtitles.folder', {}, { key: 'subtitles.folder' });
  call.afterCommit(async () => {
    await announceSettings(deps.redis);
    await deps.settings.reload();
  });
  return { revision: revision + 1, ...outcome };
}

/** Each value as parsed by its schema; null stays null. Throws 400 with every issue. */
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
    const refusal = refusalOf(key, value);
    if (refusal) issues.push({ path, ...refusal });
    else if (read.success) values[key] = read.data;
    else issues.push(...issuesOf(read.error, path));
  }
  if (issues.length > 0) throw invalidAll(issues);
  return values;
}

const MOST_BYTES = 65_536;
const MOST_ENTRIES = 1000;

/** Limits that apply to the values of every key. */
function refusalOf(key: SettingKey, value: unknown): Omit<Issue, 'path'> | undefined {
  if (isSecret(key) && typeof value === 'string' && MASK.test(value))
    return { code: 'masked_secret', message: 'the masked form is no secret' };
  if (typeof value !== 'object' || value === null) return undefined;
  const fits = Object.keys(value).length <= MOST_ENTRIES && Buffer.byteLength(JSON.stringify(value)) <= MOST_BYTES;
  return fits ? undefined : { code: 'too_big', message: 'a list or map has at most 1,000 entries and 64 KiB' };
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

/** The saved value from its row, because this process may not know yet what another replica wrote. */
function savedValue({ deps: { keys } }: Call, key: SettingKey, row: SavedRow | undefined): unknown {
  return row && definitionOf(key).schema.safeParse(openedValue(key, row.value, keys)).data;
}

/** The value in force of every setting after the change. */
function resulting(
  call: Call,
  values: Partial<Record<SettingKey, unknown>>,
  saved: ReadonlyMap<string, SavedRow>,
): (key: SettingKey) => unknown {
  const { settings, config } = call.deps;
  return (key) => {
    if (Object.hasOwn(config.declaredSettings, key)) return settings.get(key);
    const wanted = Object.hasOwn(values, key) ? values[key] : savedValue(call, key, saved.get(key));
    return wanted ?? settings.unsaved(key).value;
  };
}

const WAYS_IN: readonly SettingKey[] = [
  'auth.password.enabled',
  'auth.passkeys.enabled',
  'auth.oidc.issuer',
  'auth.twoFactor.requiredRoles',
];
type After = (key: SettingKey) => unknown;

interface Ways {
  factors: string[];
  has_password: boolean;
  /** Issuers of the account's OpenID identities. */
  issuers: string[];
}

/** Throws 409 when the caller's own account could no longer sign in, or would lack a required second factor. */
async function refuseLockout({ db, who, deps }: Call, after: After): Promise<void> {
  if (who.operator) return;
  const ways = await db('accounts as a')
    .where({ id: who.accountId })
    .first(
      'factors',
      db.raw('password_hash is not null as has_password'),
      db.raw(`array(select issuer from sign_in_methods m where m.account_id = a.id and m.kind = 'oidc') as issuers`),
    );
  const before: After = (key) => deps.settings.get(key);
  if (signsIn(who.role, ways, before) && !signsIn(who.role, ways, after))
    throw conflict('locks-out', 'You could not sign in any more');
  const required = after('auth.twoFactor.requiredRoles') as string[];
  const proves = ways.factors.includes('totp') || ways.factors.includes('passkey');
  if (required.includes(who.role) && !proves) throw conflict('locks-out', 'Your own account has no second factor');
}

/** The owner may always sign in with a password; an identity works only with its own issuer. */
function signsIn(role: string, { has_password: password, factors, issuers }: Ways, by: After): boolean {
  if (password && (role === 'owner' || by('auth.password.enabled') === true)) return true;
  if (by('auth.passkeys.enabled') === true && factors.includes('passkey')) return true;
  const issuer = by('auth.oidc.issuer');
  return typeof issuer === 'string' && issuers.some((one) => bare(one) === bare(issuer));
}

const bare = (issuer: string): string => issuer.replace(/\/$/, '');

interface One {
  key: SettingKey;
  value: unknown;
  saved: SavedRow | undefined;
}

/** No write when the value is saved already. */
function writeOf(call: Call, { key, value, saved }: One): Write[] {
  const { keys } = call.deps;
  const secret = isSecret(key);
  if (value === null && !saved) return [];
  if (value !== null && isDeepStrictEqual(savedValue(call, key, saved), value)) return [];
  const recorded = (shown: unknown): string | null => (secret || shown === undefined ? null : JSON.stringify(shown));
  const stored = value === null ? undefined : storedValue(key, value, keys);
  return [{ key, stored, before: recorded(saved?.value), after: value === null ? null : recorded(value) }];
}

async function keyNameOf({ db, who }: Call): Promise<string | undefined> {
  if (!who.keyId) return undefined;
  const row = await db('api_keys').where({ id: who.keyId }).first('name');
  return row?.name;
}
