// A Library resource becomes a library of the server through the public API.
import { digest } from '../runtime/canonical.ts';
import type { Verdict } from '../schemas/conditions.ts';
import type { LibrarySpec, LibraryStatus } from '../schemas/library.ts';
import type { Named } from '../server-api/accounts.ts';
import type { Answer, SendRequest } from '../server-api/server-client.ts';
import type { LastScan, ManagedBy, ServerLibrary } from './server-library.ts';
import { refused, syncedOf, verdictsOf } from './verdicts.ts';

export interface LibraryContext {
  request: SendRequest;
  managedBy: ManagedBy;
  mediaId: (name: string) => string;
  /** GET of one library; where there are many libraries, from a list of all. */
  read: (id: string) => Promise<Answer>;
  /** Looks these usernames up. */
  accounts: (usernames: readonly string[]) => Promise<Named>;
}

/** The PATCH that releases a library whose resource was deleted. */
export const RELEASE_LIBRARY = { managedBy: null };

export const SCAN = 'foyer.media/scan';

const NOBODY: Named = { ids: [], unknown: [] };

/** The parts of the resource that are used here. */
export interface Library {
  name: string;
  annotations: Readonly<Record<string, string>>;
  spec: LibrarySpec;
}

type Body = Record<string, unknown>;

/** The request body for the resource. Fields that the resource does not declare stay editable in the app. */
export function libraryBody({ name, spec }: Library, context: Pick<LibraryContext, 'mediaId'>): Body {
  const { agents, language, country, ageLimit, scan } = spec;
  const given = { agents, language, country, ageLimit, ...spec.settings };
  const named = Object.entries(given).filter(([, value]) => value !== undefined);
  const folders = spec.folders.map(({ media, path }) => ({ storageId: context.mediaId(media), path: inner(path) }));
  return {
    name: spec.displayName ?? name,
    folders,
    settings: { ...Object.fromEntries(named), watch: scan.onChange ? 'auto' : 'off', scanCron: scan.schedule },
    ...(spec.order !== undefined && { order: spec.order }),
  };
}

const SETTING = 'settings.';

/** The fields that the app cannot change, as the API spells them. */
function fieldsOf({ settings, managedBy: _by, managedFields: _fields, ...body }: Body): string[] {
  return [...Object.keys(body), ...Object.keys(settings ?? {}).map((key) => `${SETTING}${key}`)].sort();
}

/** The path inside the storage, without leading and trailing slashes. */
const inner = (path: string): string => path.split('/').filter(Boolean).join('/');

/** The members of `body` that differ from the server's library; empty means that no write is needed. */
export function differences(body: Body, library: ServerLibrary): Body {
  const changed = Object.entries(body).filter(([key, wanted]) => {
    const there = member(library, key);
    return key === 'access' ? !holds(asSets(wanted), asSets(there)) : !holds(wanted, there);
  });
  return Object.fromEntries(changed);
}

/** Roles and accounts have no order; the server returns them in its own. */
const asSets = (access: unknown): unknown =>
  Object.fromEntries(
    Object.entries((access ?? {}) as Body).map(([key, value]) => [
      key,
      Array.isArray(value) ? (value as string[]).toSorted((one, other) => (one < other ? -1 : 1)) : value,
    ]),
  );

/**
 * Fields that the resource declared before and no longer declares return to their defaults. Other fields stay as they are.
 */
function withDefaults(body: Body, { managedFields = [] }: ServerLibrary): Body {
  const gone = managedFields.filter((field) => !fieldsOf(body).includes(field));
  const settings = gone
    .filter((field) => field.startsWith(SETTING))
    .map((field) => [field.slice(SETTING.length), null]);
  return {
    ...body,
    ...(settings.length > 0 && { settings: { ...(body.settings as Body), ...Object.fromEntries(settings) } }),
    ...(gone.includes('access') && { access: { everyone: true, roles: [], accountIds: [] } }),
  };
}

const member = (value: unknown, key: string): unknown => (value as Body | null | undefined)?.[key];

/** `there` may have more members than `wanted`, such as ids and states of folders and settings from the app. */
function holds(wanted: unknown, there: unknown): boolean {
  if (Array.isArray(wanted)) return Array.isArray(there) && holdsList(wanted, there);
  if (typeof wanted !== 'object' || wanted === null) return wanted === there;
  return Object.entries(wanted).every(([key, value]) => holds(value, member(there, key)));
}

/** Scalars, such as agents, are compared in order; folders in any order. */
function holdsList(wanted: unknown[], there: unknown[]): boolean {
  const found = (entry: unknown, index: number): boolean =>
    typeof entry === 'object' ? there.some((other) => holds(entry, other)) : entry === there[index];
  return wanted.length === there.length && wanted.every(found);
}

export interface Reconciled {
  status: LibraryStatus;
  verdicts: Verdict[];
}

/** One pass. Throws Unreachable; a refusal becomes a condition. */
export async function reconcileLibrary(
  library: Library,
  before: LibraryStatus,
  context: LibraryContext,
): Promise<Reconciled> {
  const { users = [] } = library.spec.access ?? {};
  const named = users.length > 0 ? await context.accounts(users) : NOBODY;
  const synced = await sync(library, before, { ...context, accountIds: named.ids });
  if (!synced.library) return { status: before, verdicts: refused(synced.answer) };
  const status = await statusOf(synced.library, before, context);
  const wanted = scanWanted(library);
  if (wanted !== before.scanRequest && wanted !== undefined && (await requestScan(synced.library, context)))
    status.scanRequest = wanted;
  return { status, verdicts: verdictsOf(synced.library, syncedOf(synced.answer, named)) };
}

const REQUEST_MAX = 1024;

/** The value of the annotation, or its digest when it is too long for the status. */
export function scanWanted({ annotations }: Pick<Library, 'annotations'>): string | undefined {
  const value = annotations[SCAN];
  return value === undefined || value.length <= REQUEST_MAX ? value : digest(value);
}

/** False when the request must be repeated: the storage may be unavailable now. */
async function requestScan({ id, folders }: ServerLibrary, { request }: LibraryContext): Promise<boolean> {
  if (folders.length === 0) return true; // nothing to scan
  const answer = await request('POST', `/libraries/${id}/scan`, { mode: 'quick' });
  return answer.status < 300;
}

interface SyncContext extends LibraryContext {
  accountIds: string[];
}

interface Synced {
  library: ServerLibrary | undefined;
  /** The last response of the server; its status is not 2xx when the request was refused. */
  answer: Answer;
}

async function sync(library: Library, { libraryId }: LibraryStatus, context: SyncContext): Promise<Synced> {
  const fields = { ...libraryBody(library, context), ...accessOf(library.spec, context) };
  const body = { ...fields, managedFields: fieldsOf(fields), managedBy: context.managedBy };
  const found = libraryId ? await context.read(libraryId) : undefined;
  if (!found || found.status === 404) return create({ ...body, type: library.spec.type }, context);
  if (found.status !== 200) return { library: undefined, answer: found };
  const there = found.body as ServerLibrary;
  const change = differences(withDefaults(body, there), there);
  if (Object.keys(change).length === 0) return { library: there, answer: found };
  const sent = { ...change, ...('folders' in change && { confirmRemoval: true }) };
  const answer = await context.request('PATCH', `/libraries/${there.id}`, sent);
  return { library: answer.status === 200 ? (answer.body as ServerLibrary) : there, answer };
}

/** Idempotent by managedBy.uid: a repeated request after a lost response returns the same library. */
async function create(body: Body, { request }: LibraryContext): Promise<Synced> {
  const answer = await request('POST', '/libraries', body);
  return { library: answer.status < 300 ? (answer.body as ServerLibrary) : undefined, answer };
}

function accessOf({ access }: LibrarySpec, { accountIds }: SyncContext): Body {
  if (!access) return {};
  return { access: { everyone: access.everyone ?? false, roles: access.roles ?? [], accountIds } };
}

async function statusOf(
  library: ServerLibrary,
  before: LibraryStatus,
  context: Pick<LibraryContext, 'request'>,
): Promise<LibraryStatus> {
  const items = Object.values(library.itemCounts).reduce((sum, count) => sum + count, 0);
  const lastScan = library.lastScan && (await scanStatus(library.lastScan, before.lastScan, context));
  return { ...before, libraryId: library.id, items, sizeBytes: library.sizeBytes, ...(lastScan && { lastScan }) };
}

type ScanStatus = NonNullable<LibraryStatus['lastScan']>;

async function scanStatus(
  { id, state, finishedAt, added, updated, missing }: LastScan,
  before: ScanStatus | undefined,
  { request }: Pick<LibraryContext, 'request'>,
): Promise<ScanStatus> {
  const reported = { ...(finishedAt && { finishedAt }), added, updated, missing, result: state };
  const isSame = before?.result === state && before.finishedAt === reported.finishedAt;
  const known = isSame ? before.startedAt : undefined;
  const startedAt = state === 'queued' ? undefined : (known ?? (await startOf(id, request)));
  return { ...(startedAt && { startedAt }), ...reported };
}

/** A library does not report when its scan began. */
async function startOf(scanId: string, request: SendRequest): Promise<string | undefined> {
  const { body } = await request('GET', `/scans/${scanId}`);
  return ((body ?? {}) as { startedAt?: string }).startedAt;
}

/** Deletes or releases the library of a deleted resource. True when nothing is left to do. */
export async function releaseLibrary(
  spec: LibrarySpec,
  { libraryId }: LibraryStatus,
  request: SendRequest,
): Promise<boolean> {
  if (!libraryId) return true;
  const deleting = spec.deletionPolicy === 'Delete';
  const path = `/libraries/${libraryId}`;
  const answer = deleting ? await request('DELETE', path) : await request('PATCH', path, RELEASE_LIBRARY);
  return answer.status < 300 || answer.status === 404;
}
