// A Library resource becomes a library of the server, through the public API alone.
import { digest } from '../runtime/canonical.ts';
import type { Verdict } from '../schemas/conditions.ts';
import type { LibrarySpec, LibraryStatus } from '../schemas/library.ts';
import type { Named } from '../server-api/accounts.ts';
import type { Answer, Ask } from '../server-api/server-client.ts';
import type { LastScan, ManagedBy, ServerLibrary } from './server-library.ts';
import { refused, syncedOf, verdictsOf } from './verdicts.ts';

export interface LibraryContext {
  ask: Ask;
  managedBy: ManagedBy;
  mediaId: (name: string) => string;
  /** GET of one library; from a list of all where there are many. */
  read: (id: string) => Promise<Answer>;
  /** Which of these accounts there are. */
  accounts: (usernames: readonly string[]) => Promise<Named>;
}

/** What a library is told when its resource is gone. */
export const LET_GO = { managedBy: null };

export const SCAN = 'foyer.media/scan';

const NOBODY: Named = { ids: [], unknown: [] };

/** What is looked at of the resource. */
export interface Library {
  name: string;
  annotations: Readonly<Record<string, string>>;
  spec: LibrarySpec;
}

type Body = Record<string, unknown>;

/** The API's words for what the resource says; fields that it does not name are left to people. */
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

/** What people can then not change, as the API spells it. */
function fieldsOf({ settings, managedBy: _by, managedFields: _fields, ...body }: Body): string[] {
  return [...Object.keys(body), ...Object.keys(settings ?? {}).map((key) => `${SETTING}${key}`)].sort();
}

/** Inside the storage, without a slash at either end. */
const inner = (path: string): string => path.split('/').filter(Boolean).join('/');

/** The members of `body` that the server does not hold yet; none is a pass without a write. */
export function differences(body: Body, library: ServerLibrary): Body {
  const changed = Object.entries(body).filter(([key, wanted]) => {
    const there = member(library, key);
    return key === 'access' ? !holds(asSets(wanted), asSets(there)) : !holds(wanted, there);
  });
  return Object.fromEntries(changed);
}

/** Roles and accounts have no order: the server tells them in its own. */
const asSets = (access: unknown): unknown =>
  Object.fromEntries(
    Object.entries((access ?? {}) as Body).map(([key, value]) => [
      key,
      Array.isArray(value) ? (value as string[]).toSorted((one, other) => (one < other ? -1 : 1)) : value,
    ]),
  );

/** What the resource said once and says no longer goes back to its default; what people set is not touched. */
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

/** What is wanted may say less than what is there: ids and states of folders, settings that people made. */
function holds(wanted: unknown, there: unknown): boolean {
  if (Array.isArray(wanted)) return Array.isArray(there) && holdsList(wanted, there);
  if (typeof wanted !== 'object' || wanted === null) return wanted === there;
  return Object.entries(wanted).every(([key, value]) => holds(value, member(there, key)));
}

/** Scalars in their order, such as agents; folders in any. */
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
  if (wanted !== before.scanRequest && wanted !== undefined && (await scanAsked(synced.library, context)))
    status.scanRequest = wanted;
  return { status, verdicts: verdictsOf(synced.library, syncedOf(synced.answer, named)) };
}

const REQUEST_MAX = 1024;

/** The value of the annotation; of a long one what tells it from others, since a status has no room for it. */
export function scanWanted({ annotations }: Pick<Library, 'annotations'>): string | undefined {
  const value = annotations[SCAN];
  return value === undefined || value.length <= REQUEST_MAX ? value : digest(value);
}

/** False when it must be asked again: its storage may be away now. */
async function scanAsked({ id, folders }: ServerLibrary, { ask }: LibraryContext): Promise<boolean> {
  if (folders.length === 0) return true; // nothing to scan
  const answer = await ask('POST', `/libraries/${id}/scan`, { mode: 'quick' });
  return answer.status < 300;
}

interface SyncContext extends LibraryContext {
  accountIds: string[];
}

interface Synced {
  library: ServerLibrary | undefined;
  /** The last answer of the server; a refusal when it was not 2xx. */
  answer: Answer;
}

async function sync(library: Library, { libraryId }: LibraryStatus, context: SyncContext): Promise<Synced> {
  const said = { ...libraryBody(library, context), ...accessOf(library.spec, context) };
  const body = { ...said, managedFields: fieldsOf(said), managedBy: context.managedBy };
  const found = libraryId ? await context.read(libraryId) : undefined;
  if (!found || found.status === 404) return create({ ...body, type: library.spec.type }, context);
  if (found.status !== 200) return { library: undefined, answer: found };
  const there = found.body as ServerLibrary;
  const change = differences(withDefaults(body, there), there);
  if (Object.keys(change).length === 0) return { library: there, answer: found };
  const sent = { ...change, ...('folders' in change && { confirmRemoval: true }) };
  const answer = await context.ask('PATCH', `/libraries/${there.id}`, sent);
  return { library: answer.status === 200 ? (answer.body as ServerLibrary) : there, answer };
}

/** Idempotent by managedBy.uid: a repeat after a lost answer gives the same library. */
async function create(body: Body, { ask }: LibraryContext): Promise<Synced> {
  const answer = await ask('POST', '/libraries', body);
  return { library: answer.status < 300 ? (answer.body as ServerLibrary) : undefined, answer };
}

function accessOf({ access }: LibrarySpec, { accountIds }: SyncContext): Body {
  if (!access) return {};
  return { access: { everyone: access.everyone ?? false, roles: access.roles ?? [], accountIds } };
}

async function statusOf(
  library: ServerLibrary,
  before: LibraryStatus,
  context: Pick<LibraryContext, 'ask'>,
): Promise<LibraryStatus> {
  const items = Object.values(library.itemCounts).reduce((sum, count) => sum + count, 0);
  const lastScan = library.lastScan && (await scanStatus(library.lastScan, before.lastScan, context));
  return { ...before, libraryId: library.id, items, sizeBytes: library.sizeBytes, ...(lastScan && { lastScan }) };
}

type ScanStatus = NonNullable<LibraryStatus['lastScan']>;

async function scanStatus(
  { id, state, finishedAt, added, updated, missing }: LastScan,
  before: ScanStatus | undefined,
  { ask }: Pick<LibraryContext, 'ask'>,
): Promise<ScanStatus> {
  const told = { ...(finishedAt && { finishedAt }), added, updated, missing, result: state };
  const isSame = before?.result === state && before.finishedAt === told.finishedAt;
  const known = isSame ? before.startedAt : undefined;
  const startedAt = state === 'queued' ? undefined : (known ?? (await startOf(id, ask)));
  return { ...(startedAt && { startedAt }), ...told };
}

/** A library does not tell when its scan began. */
async function startOf(scanId: string, ask: Ask): Promise<string | undefined> {
  const { body } = await ask('GET', `/scans/${scanId}`);
  return ((body ?? {}) as { startedAt?: string }).startedAt;
}

/** A resource that is gone: its library goes too, or is let go. True when nothing is left to do. */
export async function releaseLibrary(spec: LibrarySpec, { libraryId }: LibraryStatus, ask: Ask): Promise<boolean> {
  if (!libraryId) return true;
  const deleting = spec.deletionPolicy === 'Delete';
  const path = `/libraries/${libraryId}`;
  const answer = deleting ? await ask('DELETE', path) : await ask('PATCH', path, LET_GO);
  return answer.status < 300 || answer.status === 404;
}
