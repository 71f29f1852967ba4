// Storages in words, and what their page sends.
import type { Storage, StorageCheck, StorageKind, StorageKindId, StorageReason } from 'foyer-client';
import { api } from '#core/api/client.ts';
import { invalidate } from '#core/cache/query.ts';
import * as m from '#messages/storages.ts';

const reasons: Record<StorageReason, () => string> = {
  timeout: m.reasonTimeout,
  'not-mounted': m.reasonNotMounted,
  'permission-denied': m.reasonPermissionDenied,
  'authentication-failed': m.reasonAuthenticationFailed,
  'host-unreachable': m.reasonHostUnreachable,
  'certificate-invalid': m.reasonCertificateInvalid,
  'host-key-changed': m.reasonHostKeyChanged,
  'bucket-missing': m.reasonBucketMissing,
  'root-missing': m.reasonRootMissing,
  'root-empty': m.reasonRootEmpty,
  'marker-missing': m.reasonMarkerMissing,
  'marker-differs': m.reasonMarkerDiffers,
  'sample-differs': m.reasonSampleDiffers,
  'read-only-now': m.reasonReadOnlyNow,
  slow: m.reasonSlow,
  full: m.reasonFull,
  'plugin-down': m.reasonPluginDown,
  'authorization-expired': m.reasonAuthorizationExpired,
  'some-pods-only': m.reasonSomePodsOnly,
};

const states: Record<Storage['state'], () => string> = {
  connecting: m.stateConnecting,
  available: m.stateAvailable,
  degraded: m.stateDegraded,
  suspect: m.stateSuspect,
  unavailable: m.stateUnavailable,
  disabled: m.disabled,
};

const kinds: Record<StorageKindId, () => string> = {
  mount: m.kindMount,
  s3: m.kindS3,
  webdav: m.kindWebdav,
  sftp: m.kindSftp,
};

export const reasonText = (reason: StorageReason | undefined): string => (reason ? reasons[reason]() : '');

export const kindText = (kind: string): string => (kind in kinds ? kinds[kind as StorageKindId]() : kind);

const secrets: Record<string, () => string> = {
  password: m.secretPassword,
  privateKey: m.secretPrivateKey,
  passphrase: m.secretPassphrase,
  secretAccessKey: m.secretSecretAccessKey,
};

export const secretText = (key: string): string => secrets[key]?.() ?? key;

const GIB = 1024 ** 3;
const gib = (bytes: number): string => `${(bytes / GIB).toFixed(1)} GiB`;

/** State, reason, kind, space and use in one line. */
export function describe(storage: Storage): string {
  const { capacity, libraries } = storage;
  return [
    [states[storage.state](), reasonText(storage.reason)].filter(Boolean).join(': '),
    kindText(storage.kind),
    storage.readOnly ? m.readOnly() : '',
    capacity ? m.free({ free: gib(capacity.freeBytes), total: gib(capacity.totalBytes) }) : '',
    libraries.length > 0 ? m.libraries({ count: libraries.length }) : '',
    storage.ownerId ? m.yours() : '',
    storage.managedBy ? m.managed() : '',
  ]
    .filter(Boolean)
    .join(' · ');
}

/** The result of a check for people. */
export function checkText(check: StorageCheck): string {
  const failed = check.pods?.filter(({ ok }) => !ok).map(({ pod }) => m.podFails({ pod })) ?? [];
  if (!check.ok) return m.failed({ reason: [reasonText(check.reason), detailOf(check)].filter(Boolean).join(' ') });
  const found = check.entries === undefined ? '' : m.entries({ count: check.entries });
  return [m.tested(), found, reasonText(check.reason), ...failed].filter(Boolean).join(' ');
}

/** The key that a host showed, which an admin compares before it is trusted. */
function detailOf({ steps }: StorageCheck): string {
  return /SHA256:\S+/.exec(steps.find(({ ok }) => !ok)?.detail ?? '')?.[0] ?? '';
}

/** One member of the settings, as a form shows it. */
export interface FormField {
  name: string;
  label: string;
  type: 'text' | 'number' | 'check';
  initial: string | boolean;
  required: boolean;
}

interface Property {
  title?: string;
  type?: string;
  default?: unknown;
}

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

/** The fields of a kind, in the order of its schema. */
export function fieldsOf({ settingsSchema }: StorageKind): FormField[] {
  const schema = settingsSchema as { properties?: Record<string, Property>; required?: string[]; 'x-order'?: string[] };
  return (schema['x-order'] ?? []).flatMap((name) => {
    const property = schema.properties?.[name];
    if (!property) return [];
    const { title = name, type, default: initial } = property;
    const kind = type === 'boolean' ? 'check' : type === 'integer' ? 'number' : 'text';
    const value = kind === 'check' ? initial === true : textOf(initial);
    return [{ name, label: title, type: kind, initial: value, required: schema.required?.includes(name) ?? false }];
  });
}

export type Typed = Record<string, string | boolean>;

export const initialOf = (fields: readonly FormField[], from: Readonly<Record<string, unknown>> = {}): Typed =>
  Object.fromEntries(
    fields.map(({ name, type, initial }) => {
      const value = from[name] ?? initial;
      return [name, type === 'check' ? value === true : textOf(value)];
    }),
  );

/** Settings as the API takes them; an empty text leaves a member out. */
export function settingsOf(fields: readonly FormField[], typed: Typed): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap(({ name, type }): [string, unknown][] => {
      const value = typed[name];
      if (type === 'check') return [[name, value === true]];
      const text = String(value ?? '').trim();
      if (text === '') return [];
      return [[name, type === 'number' && /^\d{1,5}$/.test(text) ? Number(text) : text]];
    }),
  );
}

export const secretsOf = (typed: Typed): Record<string, string> =>
  Object.fromEntries(Object.entries(typed).flatMap(([key, value]) => (value ? [[key, String(value)]] : [])));

const refresh = (): Promise<unknown> => Promise.all([invalidate('listStorages'), invalidate('listLibraries')]);

export async function changed<T>(work: () => Promise<T>): Promise<T> {
  const answer = await work();
  await refresh();
  return answer;
}

export const remove = (id: string): Promise<void> => changed(() => api.deleteStorage({ params: { id } }));

export const setEnabled = (id: string, enabled: boolean): Promise<Storage> =>
  changed(() => api.updateStorage({ params: { id }, body: { enabled } }));

type Acceptable = 'marker-differs' | 'marker-missing' | 'sample-differs' | 'root-empty';
const acceptable: readonly string[] = ['marker-differs', 'marker-missing', 'sample-differs', 'root-empty'];

/** The reason that a person may accept, if the storage waits for one. */
export const acceptableReason = ({ state, reason }: Storage): Acceptable | undefined =>
  state === 'suspect' && reason && acceptable.includes(reason) ? (reason as Acceptable) : undefined;

export const accept = (id: string, reason: Acceptable): Promise<Storage> =>
  changed(() =>
    api.setStorageIdentity({
      params: { id },
      body: { accept: reason, ...(reason === 'root-empty' && { expectItemsMissing: true }) },
    }),
  );
