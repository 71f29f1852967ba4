// spec.media[].s3: each entry is a storage of that name, made and changed through the server's public API.
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { digest } from '../runtime/canonical.ts';
import type { MediaServerSpec } from '../schemas/media-server.ts';
import { refusalText, type SendRequest, Unreachable } from '../server-api/server-client.ts';
import type { ManagedBy } from '../server-environment.ts';
import type { Body } from './collections.ts';
import { isOwnedBy, type Owner } from './owner.ts';

const PATH = '/storages';
/** Interval between checks for drift. A changed Secret or entry is applied at once. */
const HOLDS_MS = 10_000;
/** Known files that are compared at another place; few, so that the answer comes within the time of a request. */
const SAMPLE = 50;

export interface Bucket {
  name: string;
  settings: Body;
  readOnly: boolean;
  /** Undefined while the Secret does not have it: the storage then stays as it is. */
  secretAccessKey: string | undefined;
}

/** A storage in the server's API. */
export interface ServerStorage {
  id: string;
  name: string;
  kind: string;
  state: string;
  reason?: string;
  readOnly: boolean;
  settings: Body;
  managedBy?: ManagedBy;
}

type Seen = { state: string; reason?: string | undefined };
const UNANSWERED: Seen = { state: 'unavailable', reason: 'timeout' };
/** Longest wait of a pass for the check of one bucket. */
const PATIENCE_MS = 3000;

export interface ObservedBuckets {
  /** Entries that were refused, as messages for people. */
  troubles: string[];
  /** Entries that the server has, as they were last observed. */
  storages: (Seen & { name: string })[];
}

type Values = Readonly<Record<string, string | Uint8Array>>;

export function bucketsIn({ media }: MediaServerSpec, secretOf: (name: string) => Values | undefined): Bucket[] {
  return media.flatMap(({ name, readOnly, s3 }) => {
    if (!s3) return [];
    const { endpoint, region, bucket, prefix, pathStyle, secretRef } = s3;
    const { accessKey, secretKey } = secretOf(secretRef.name) ?? {};
    const place = { endpoint, bucket, prefix: trimmed(prefix ?? ''), pathStyle, accessKeyId: accessKey };
    const settings = { ...place, ...(region !== undefined && { region }) };
    const isWhole = accessKey !== undefined && secretKey !== undefined;
    return [{ name, readOnly, settings, secretAccessKey: isWhole ? String(secretKey) : undefined }];
  });
}

const trimmed = (path: string): string => path.split('/').filter(Boolean).join('/');

const addressOf = (endpoint: unknown): string => String(endpoint).toLowerCase().split('/').slice(0, 3).join('/');

const isAt = ({ settings: one }: Pick<ServerStorage, 'settings'>, { settings: other }: Bucket): boolean =>
  addressOf(one['endpoint']) === addressOf(other['endpoint']) &&
  one['bucket'] === other['bucket'] &&
  trimmed(typeof one['prefix'] === 'string' ? one['prefix'] : '') === other['prefix'];

const ownOf = (storages: readonly ServerStorage[], owner: Owner, kind: string): ServerStorage[] =>
  storages.filter((one) => one.kind === kind && isOwnedBy(one, owner));

/** The storage of each entry. People may rename a storage, and swap entries, so places count before all names. */
function storagesOf(
  buckets: readonly Bucket[],
  storages: readonly ServerStorage[],
  owner: Owner,
): Map<string, ServerStorage> {
  const free = new Set(ownOf(storages, owner, 's3'));
  const found = new Map<string, ServerStorage>();
  const matches = [isAt, ({ name }: ServerStorage, bucket: Bucket): boolean => name === bucket.name];
  for (const match of matches)
    for (const bucket of buckets.filter(({ name }) => !found.has(name))) {
      const storage = [...free].find((one) => match(one, bucket));
      if (!storage) continue;
      free.delete(storage);
      found.set(bucket.name, storage);
    }
  return found;
}

/** Storage ids of the entries that the server has, by name. */
export async function readBucketIds(
  request: SendRequest,
  buckets: readonly Bucket[],
  owner: Owner,
): Promise<Map<string, string>> {
  if (buckets.length === 0) return new Map();
  const { body } = await request('GET', PATH);
  const { items = [] } = (body ?? {}) as { items?: ServerStorage[] };
  return new Map([...storagesOf(buckets, items, owner)].map(([name, { id }]) => [name, id]));
}

export interface BucketsGiven {
  request: SendRequest;
  buckets: readonly Bucket[];
  managedBy: ManagedBy;
}

/** The buckets of one server. */
export class DeclaredBuckets {
  readonly #holdsMs: number;
  /** Digest of the secret that the server has, by storage id, as far as this process knows. */
  readonly #sent = new Map<string, string>();
  /** Results of checks that failed; the server itself reports a storage as unavailable after its second one. */
  readonly #failing = new Map<string, Seen>();
  readonly #checks = new Map<string, Promise<Seen | string>>();
  /** Storages to which the secret was sent since their bucket refuses it. */
  readonly #resent = new Set<string>();
  #last: { at: number; print: string; observed: ObservedBuckets } | undefined;

  constructor(holdsMs = HOLDS_MS) {
    this.#holdsMs = holdsMs;
  }

  /** Result of the last pass. */
  get observed(): ObservedBuckets | undefined {
    return this.#last?.observed;
  }

  /** One pass. It ends early when the server becomes unreachable; the next pass continues. */
  async pass(given: BucketsGiven): Promise<ObservedBuckets | undefined> {
    const print = digest(JSON.stringify(given.buckets));
    if (this.#isFresh(print, given.buckets.length === 0)) return this.#last?.observed;
    try {
      const observed = await this.#all(given);
      this.#last = { at: performance.now(), print, observed };
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
    }
    return this.#last?.observed;
  }

  /** Without entries and leftover storages there is nothing to look at. */
  #isFresh(print: string, isEmpty: boolean): boolean {
    const last = this.#last;
    if (last?.print !== print) return false;
    return (isEmpty && last.observed.troubles.length === 0) || performance.now() - last.at < this.#holdsMs;
  }

  async #all(given: BucketsGiven): Promise<ObservedBuckets> {
    const { request, buckets, managedBy } = given;
    const observed: ObservedBuckets = { troubles: [], storages: [] };
    const listed = await request('GET', PATH);
    const { items } = (listed.body ?? {}) as { items?: ServerStorage[] };
    if (!items) return buckets.length === 0 ? observed : { ...observed, troubles: [refusalText(listed)] };
    const found = storagesOf(buckets, items, managedBy);
    const mounts = ownOf(items, managedBy, 'mount').filter(({ name }) => buckets.some((one) => one.name === name));
    observed.troubles.push(...(await removeAll(request, mounts, 'is a bucket now')));
    for (const bucket of buckets) {
      const there = found.get(bucket.name);
      const seen = there ? await this.#change(given, bucket, there) : await this.#create(given, bucket);
      if (typeof seen === 'string') observed.troubles.push(`media ${bucket.name}: ${seen}`);
      else if (seen) observed.storages.push({ name: bucket.name, state: seen.state, reason: seen.reason });
    }
    const kept = new Set([...found.values()].map(({ id }) => id));
    const left = ownOf(items, managedBy, 's3').filter(({ id }) => !kept.has(id));
    observed.troubles.push(...(await removeAll(request, left, 'is no longer declared')));
    return observed;
  }

  /** The storage, or why the server refused it. It is made even while the bucket does not answer: its state says so. */
  async #create({ request, managedBy }: BucketsGiven, bucket: Bucket): Promise<Seen | string | undefined> {
    const { name, settings, readOnly, secretAccessKey } = bucket;
    if (secretAccessKey === undefined) return undefined;
    const secrets = { secretAccessKey };
    const draft = { name, kind: 's3', settings, secrets, readOnly, check: false, managedBy };
    const made = await request('POST', PATH, draft);
    if (made.status >= 300) return refusalText(made);
    const { id } = made.body as ServerStorage;
    this.#sent.set(id, digest(secretAccessKey));
    return this.#check(request, id);
  }

  /**
   * The state of a storage that was just written, or whose last check failed; the server checks it every minute. A bucket
   * that does not answer holds up neither the pass nor the other buckets: its check goes on.
   */
  async #check(request: SendRequest, id: string): Promise<Seen | string> {
    const check = this.#checks.get(id) ?? this.#requestCheck(request, id).finally(() => this.#checks.delete(id));
    this.#checks.set(id, check);
    const late = sleep(PATIENCE_MS, this.#failing.get(id) ?? UNANSWERED, { ref: false });
    return Promise.race([check, late]);
  }

  async #requestCheck(request: SendRequest, id: string): Promise<Seen | string> {
    try {
      const answer = await request('POST', `${PATH}/${id}/check`);
      if (answer.status >= 300) return refusalText(answer);
      const { ok, state, reason } = answer.body as Seen & { ok: boolean };
      const seen = ok ? { state } : { state: 'unavailable', reason };
      if (ok) this.#failing.delete(id);
      else this.#failing.set(id, seen);
      return seen;
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      this.#failing.set(id, UNANSWERED);
      return UNANSWERED;
    }
  }

  async #change({ request }: BucketsGiven, bucket: Bucket, there: ServerStorage): Promise<Seen | string | undefined> {
    const change = this.#differences(bucket, there);
    if (Object.keys(change).length === 0) {
      const isOpen = this.#failing.has(there.id) || this.#checks.has(there.id);
      return isOpen ? this.#check(request, there.id) : there;
    }
    const changed = await request('PATCH', `${PATH}/${there.id}`, { ...change, check: false });
    const moved = changed.status === 409 && refusalText(changed).includes('use-relocate');
    const { readOnly: _kept, ...place } = change;
    const answer = moved
      ? await request('POST', `${PATH}/${there.id}/relocate`, { ...place, sample: SAMPLE })
      : changed;
    if (answer.status >= 300) return refusalText(answer);
    if (bucket.secretAccessKey !== undefined) this.#sent.set(there.id, digest(bucket.secretAccessKey));
    if ('secrets' in change) this.#resent.add(there.id);
    return this.#check(request, there.id);
  }

  #differences(bucket: Bucket, there: ServerStorage): Body {
    const { settings, readOnly, secretAccessKey } = bucket;
    if (secretAccessKey === undefined) return {};
    const changed = Object.entries(settings).filter(([key, value]) => !isDeepStrictEqual(there.settings[key], value));
    const isMoved = changed.length > 0;
    const isOther = this.#isOtherSecret(there, digest(secretAccessKey));
    return {
      ...(isMoved && { settings: Object.fromEntries(changed) }),
      ...((isOther || isMoved) && { secrets: { secretAccessKey } }),
      ...(readOnly !== there.readOnly && { readOnly }),
    };
  }

  /** Saved secrets cannot be read: one is sent when it changed, and once whenever the bucket begins to refuse the saved one. */
  #isOtherSecret({ id, reason }: ServerStorage, wanted: string): boolean {
    const isRefused = reason === 'authentication-failed';
    if (!isRefused) this.#resent.delete(id);
    const sent = this.#sent.get(id);
    if ((sent !== undefined && sent !== wanted) || (isRefused && !this.#resent.has(id))) return true;
    this.#sent.set(id, wanted);
    return false;
  }
}

/** Deletes storages that have no entry, and returns why that was refused. */
async function removeAll(request: SendRequest, left: readonly ServerStorage[], why: string): Promise<string[]> {
  const troubles: string[] = [];
  for (const { id, name } of left) {
    const answer = await request('DELETE', `${PATH}/${id}`);
    if (answer.status < 300 || answer.status === 404) continue;
    troubles.push(`the storage ${name}, which ${why}: ${refusalText(answer)}`);
  }
  return troubles;
}
