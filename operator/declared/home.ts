// home.json of spec.declared: the layout of Home for profiles without their own, one document for the server.
import { isDeepStrictEqual } from 'node:util';
import { refusalText, type SendRequest } from '../server-api/server-client.ts';
import type { ManagedBy } from '../server-environment.ts';
import type { Body } from './collections.ts';
import type { DeclaredMap } from './files.ts';

export const HOME_FILE = 'home.json';

const PATH = '/home/layout';
const READ = `${PATH}?scope=server` as const;

interface HomeOutcome {
  troubles: string[];
  applied: number;
  /** The server held the declaration already, so the same one needs no look at its rows. */
  settled: boolean;
}

interface Layout extends Body {
  managedBy?: ManagedBy;
  revision: number;
}

interface Declared {
  where: string;
  body: Body;
}

interface Wanted {
  troubles: string[];
  found: Declared[];
  /** A ConfigMap is missing or unreadable, so nothing may be removed. */
  broken: boolean;
}

interface HomeGiven {
  request: SendRequest;
  maps: readonly DeclaredMap[];
  managedBy: ManagedBy;
}

/** The layout as it is declared and as the server keeps it. */
export class DeclaredHome {
  #rest: { print: string; outcome: HomeOutcome } | undefined;

  async pass(given: HomeGiven): Promise<HomeOutcome> {
    const wanted = wantedIn(given.maps);
    const read = await given.request('GET', READ);
    const none = { troubles: wanted.troubles, applied: 0, settled: true };
    if (read.status === 404 && wanted.found.length === 0) return none; // an older server during an upgrade
    if (read.status !== 200) return { ...none, troubles: [...wanted.troubles, refusalText(read)], settled: false };
    const layout = (read.body ?? {}) as Layout;
    const print = JSON.stringify([wanted, layout.revision, layout.managedBy?.name]);
    if (this.#rest?.print === print) return this.#rest.outcome;
    const outcome = await apply(given, wanted, layout);
    this.#rest = outcome.settled ? { print, outcome } : undefined;
    return outcome;
  }
}

function wantedIn(maps: readonly DeclaredMap[]): Wanted {
  const wanted: Wanted = { troubles: [], found: [], broken: maps.some(({ files }) => !files) };
  for (const { configMap, files } of maps) {
    const text = files?.[HOME_FILE];
    if (text === undefined) continue;
    const where = `ConfigMap ${configMap}, ${HOME_FILE}`;
    const body = bodyIn(typeof text === 'string' ? text : Buffer.from(text).toString('utf8'));
    if (!body) wanted.troubles.push(`${where}: it must be a JSON object with rows`);
    else if (wanted.found.length > 0) wanted.troubles.push(`${where}: the layout is declared twice`);
    else wanted.found.push({ where, body });
  }
  if (wanted.troubles.length > 0) wanted.broken = true;
  return wanted;
}

/** The body of the operation, with an id for each row, so that two passes write the same. */
function bodyIn(text: string): Body | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { rows, ...more } = (value ?? {}) as { rows?: unknown };
  if (!Array.isArray(rows)) return undefined;
  const used = new Map<string, number>();
  const named = (rows as unknown[]).map((row) => {
    const { rowId, kind } = (row ?? {}) as Body;
    if (rowId !== undefined || typeof kind !== 'string') return row;
    const count = (used.get(kind) ?? 0) + 1;
    used.set(kind, count);
    return { rowId: count === 1 ? `declared.${kind}` : `declared.${kind}.${count}`, ...(row as Body) };
  });
  return { hiddenLibraryIds: [], hero: 'off', ...more, rows: named };
}

const isOf = ({ managedBy }: Layout, { kind, namespace, name }: ManagedBy): boolean =>
  managedBy?.kind === kind && managedBy.namespace === namespace && managedBy.name === name;

async function apply(given: HomeGiven, wanted: Wanted, layout: Layout): Promise<HomeOutcome> {
  const [declared] = wanted.found;
  const { trouble, ...outcome } = declared ? await declare(given, declared, layout) : await free(given, wanted, layout);
  return { ...outcome, troubles: [...wanted.troubles, ...(trouble === undefined ? [] : [trouble])] };
}

interface Step {
  applied: number;
  settled: boolean;
  trouble?: string;
}

/** Removes a layout of this resource that no file declares. */
async function free({ request, managedBy }: HomeGiven, { broken }: Wanted, layout: Layout): Promise<Step> {
  if (broken || !isOf(layout, managedBy)) return { applied: 0, settled: true };
  const freed = await request('PUT', PATH, { scope: 'server', rows: null });
  const trouble = `the layout of Home, which is no longer declared: ${refusalText(freed)}`;
  return { applied: 0, settled: false, ...(freed.status >= 300 && { trouble }) };
}

async function declare({ request, managedBy }: HomeGiven, { where, body }: Declared, layout: Layout): Promise<Step> {
  const other = isOf(layout, managedBy) ? undefined : layout.managedBy;
  if (other) return { applied: 0, settled: true, trouble: `${where}: ${other.kind} ${other.name} declares it already` };
  const tried = await request('PUT', PATH, { ...body, scope: 'server', validateOnly: true });
  if (tried.status >= 300) {
    const settled = tried.status < 500 && ![404, 429].includes(tried.status);
    return { applied: 0, settled, trouble: `${where}: ${refusalText(tried)}` };
  }
  if (isOf(layout, managedBy) && isSame(tried.body as Body, layout)) return { applied: 1, settled: true };
  const written = await request('PUT', PATH, { ...body, scope: 'server', managedBy, validateOnly: false });
  if (written.status < 300) return { applied: 1, settled: false };
  return { applied: 0, settled: false, trouble: `${where}: ${refusalText(written)}` };
}

const isSame = (one: Body, other: Body): boolean =>
  ['rows', 'hiddenLibraryIds', 'hero'].every((name) => isDeepStrictEqual(one[name], other[name]));
