import type { Call } from '#kernel/endpoint.ts';
import { conflict, type Issue, invalid, invalidAll } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { type KindId, kindOf, overlaps, type Secrets, type Settings } from './kinds/kinds.ts';
import { type Reach, refuseHost } from './readers/addresses.ts';
import { StorageFault } from './readers/reader.ts';
import { listStorageRows, type StorageRow, whereOf } from './storages.store.ts';

/** The settings by the schema of their kind, defaults filled in. Throws 400 with all faults. */
export function parsedSettings(kind: KindId, settings: Settings): Settings {
  const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null));
  const parsed = kindOf(kind).settings.safeParse(given);
  if (parsed.success) return parsed.data as Settings;
  const issues = parsed.error.issues.map((issue): Issue => {
    const { params } = issue as { params?: { code?: string } };
    const path = issue.path.filter((step) => typeof step !== 'symbol');
    return { path: ['body', 'settings', ...path], code: params?.code ?? issue.code, message: issue.message };
  });
  throw invalidAll(issues);
}

/** Throws 400 for a secret that the kind does not have. */
export function requireSecrets(kind: KindId, secrets: Record<string, unknown>): void {
  const known = kindOf(kind).secretKeys;
  const issues = Object.keys(secrets)
    .filter((key) => !known.includes(key))
    .map(
      (key): Issue => ({
        path: ['body', 'secrets', key],
        code: 'unknown_secret',
        message: 'the kind has no such secret',
      }),
    );
  if (issues.length > 0) throw invalidAll(issues);
}

/** Secrets after a change: null removes one. */
export function mergedSecrets(before: Secrets, change: Record<string, string | null>): Secrets {
  const all = Object.entries({ ...before, ...change });
  return Object.fromEntries(all.flatMap(([key, value]) => (value === null ? [] : [[key, value]])));
}

/** Member of the settings that has the address of a remote kind. */
const addressMember: Record<KindId, string | undefined> = {
  mount: undefined,
  s3: 'endpoint',
  webdav: 'url',
  sftp: 'host',
};

export function hostOf(kind: KindId, settings: Settings): string | undefined {
  const member = addressMember[kind];
  if (member === undefined) return undefined;
  const text = String(settings[member]);
  return kind === 'sftp' ? text : new URL(text).hostname.replace(/^\[|\]$/g, '');
}

/** Throws 400 `address_not_allowed` for an address that storages may not reach, and 400 for a media root that does not exist. */
export async function refusePlace(
  { deps: { config } }: Pick<Call, 'deps'>,
  { kind, settings, personal }: { kind: KindId; settings: Settings; personal?: Reach['personal'] },
): Promise<void> {
  const host = hostOf(kind, settings);
  if (host === undefined) {
    const known = config.mediaRoots.some(({ name }) => name === settings['root']);
    if (!known) throw invalid(['body', 'settings', 'root'], 'unknown_root', 'the server has no such media root');
    return;
  }
  try {
    await refuseHost({ config, personal }, host);
  } catch (error) {
    if (!(error instanceof StorageFault)) throw error;
    const path = ['body', 'settings', addressMember[kind] ?? ''];
    throw invalid(path, 'address_not_allowed', 'storages do not reach this address');
  }
}

const MOST_STORAGES = 200;
const MOST_DRIVES = 5;

interface Newcomer {
  name: string;
  kind: KindId;
  settings: Settings;
  ownerId: string | null;
}

/** Throws 409 for a taken name, a taken place and a full server. Call it under `lockStorages`. */
export async function refuseNew(db: Db, newcomer: Newcomer): Promise<void> {
  const rows = await listStorageRows(db);
  const own = rows.filter((row) => row.owner_id === newcomer.ownerId);
  if (rows.length >= MOST_STORAGES) throw conflict('storage-limit', `At most ${MOST_STORAGES} storages`);
  if (newcomer.ownerId !== null && own.length >= MOST_DRIVES)
    throw conflict('storage-limit', `At most ${MOST_DRIVES} drives of an account`);
  refuseName(own, newcomer.name);
  refuseSamePlace(own, newcomer);
}

type Rival = Pick<StorageRow, 'id' | 'name' | 'kind' | 'settings' | 'owner_id'>;

/** Names are compared without case. */
export function refuseName(rivals: readonly Rival[], name: string): void {
  if (rivals.some((row) => row.name.toLowerCase() === name.toLowerCase()))
    throw conflict('duplicate-name', 'A storage of that name exists already');
}

export function refuseSamePlace(
  rivals: readonly Rival[],
  { kind, settings }: Pick<Newcomer, 'kind' | 'settings'>,
): void {
  const where = whereOf({ kind, settings });
  const same = rivals.find((row) => row.kind === kind && overlaps(whereOf(row), where));
  if (same) throw conflict('duplicate-storage', 'A storage has this place already', { storageId: same.id });
}

export async function rivalsOf(db: Db, { id, owner_id: owner }: Pick<StorageRow, 'id' | 'owner_id'>): Promise<Rival[]> {
  const rows = await listStorageRows(db);
  return rows.filter((row) => row.id !== id && row.owner_id === owner);
}
