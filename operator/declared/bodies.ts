// Applies spec.declared through the server's public API: reads, compares, and writes only differences.
import { createHash } from 'node:crypto';
import { type Answer, refusalText, type SendRequest, Unreachable } from '../server-api/server-client.ts';
import type { ManagedBy } from '../server-environment.ts';
import { type Body, type Collection, collections } from './collections.ts';
import { type DeclaredMap, keyOf, unknownFiles, type Wanted, wantedOf } from './files.ts';
import { DeclaredHome } from './home.ts';
import { DeclaredIcons } from './icons.ts';
import { isOwnedBy } from './owner.ts';

/** Result of the last pass. */
export interface ObservedDeclared {
  /** Entries that were refused or could not be read, as messages for people. */
  troubles: string[];
  /** Number of entries that the server holds as declared. */
  applied: number;
}

/** Interval between checks for drift. A changed ConfigMap is applied at once. */
const HOLDS_MS = 10_000;

interface Kept {
  id?: string;
  name?: string;
  key?: string;
  revision: number;
  managedBy?: ManagedBy;
  serverDefault?: boolean;
}

/** Result of a pass over a collection that left nothing to do, except entries that the server permanently refuses. */
interface Rest {
  /** Digest of the declaration and of the server's records. */
  print: string;
  outcome: Outcome;
}

interface Outcome {
  troubles: string[];
  applied: number;
}

export interface DeclaredGiven {
  request: SendRequest;
  maps: readonly DeclaredMap[];
  managedBy: ManagedBy;
}

/** The declarations of one server. */
export class DeclaredBodies {
  readonly #rests = new Map<string, Rest>();
  readonly #home = new DeclaredHome();
  readonly #icons = new DeclaredIcons();
  readonly #holdsMs: number;
  #last: { at: number; print: string; observed: ObservedDeclared } | undefined;

  constructor(holdsMs = HOLDS_MS) {
    this.#holdsMs = holdsMs;
  }

  /** Result of the last pass. */
  get observed(): ObservedDeclared | undefined {
    return this.#last?.observed;
  }

  /** One pass. It ends early when the server becomes unreachable; the next pass continues. */
  async pass(given: DeclaredGiven): Promise<ObservedDeclared | undefined> {
    const print = printOf(
      given.maps.map(({ configMap, files }) => [configMap, files && Object.entries(files).map(withDigest)]),
    );
    const last = this.#last;
    if (last?.print === print && performance.now() - last.at < this.#holdsMs) return last.observed;
    try {
      const observed = await this.#all(given);
      this.#last = { at: performance.now(), print, observed };
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
    }
    return this.#last?.observed;
  }

  async #all(given: DeclaredGiven): Promise<ObservedDeclared> {
    const observed: ObservedDeclared = { troubles: unknownFiles(given.maps), applied: 0 };
    // Icons first: a library type may name one.
    const icons = await this.#icons.pass(given);
    observed.troubles.push(...icons.troubles);
    observed.applied += icons.applied;
    for (const [file, collection] of Object.entries(collections)) {
      const { troubles, applied } = await this.#one(file, collection, given);
      observed.troubles.push(...troubles);
      observed.applied += applied;
    }
    const home = await this.#home.pass(given);
    observed.troubles.push(...home.troubles);
    observed.applied += home.applied;
    return { ...observed, troubles: [...new Set(observed.troubles)] };
  }

  async #one(file: string, collection: Collection, { request, maps, managedBy }: DeclaredGiven): Promise<Outcome> {
    const wanted = wantedOf(file, maps);
    const listed = await request('GET', collection.path);
    const { items } = (listed.body ?? {}) as { items?: Kept[] };
    // An older server during an upgrade; nothing is declared that it would have to hold.
    if (listed.status === 404 && wanted.entries.length === 0) return { troubles: wanted.troubles, applied: 0 };
    if (listed.status !== 200 || !items) return { troubles: [...wanted.troubles, refusalText(listed)], applied: 0 };
    const print = printOf([wanted, items.map((one) => weightOf(one, collection, managedBy))]);
    const rest = this.#rests.get(file);
    if (rest?.print === print) return rest.outcome;
    const round = new Round({ request, collection, managedBy, wanted, items });
    const outcome = await round.run();
    // Records that were written are checked once more, and transient failures are retried.
    if (round.settled) this.#rests.set(file, { print, outcome });
    else this.#rests.delete(file);
    return outcome;
  }
}

/** Bytes as their digest, which is short to compare. */
const withDigest = ([file, content]: [string, string | Uint8Array]): [string, string] => [
  file,
  typeof content === 'string' ? content : createHash('sha256').update(content).digest('base64url'),
];

const printOf = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('base64url');

/** Of records with another owner only the name matters: it may conflict. */
const weightOf = (one: Kept, collection: Collection, by: ManagedBy): unknown[] =>
  isOwnedBy(one, by) ? [one.id, nameOf(one, collection), one.revision, one.serverDefault] : [nameOf(one, collection)];

const nameOf = (one: Kept, { knownBy }: Collection): string => one[knownBy] ?? '';
const pathOf = (one: Kept, { path, pathBy }: Collection): `/${string}` =>
  `${path}/${encodeURIComponent(one[pathBy] ?? '')}`;

interface RoundGiven {
  request: SendRequest;
  collection: Collection;
  managedBy: ManagedBy;
  wanted: Wanted;
  items: readonly Kept[];
}

/** Checks every declared entry, and deletes records that are no longer declared. */
class Round {
  readonly #given: RoundGiven;
  readonly #troubles: string[];
  /** This pass wrote nothing, and no failure of it is transient. */
  settled = true;

  constructor(given: RoundGiven) {
    this.#given = given;
    this.#troubles = [...given.wanted.troubles];
  }

  async run(): Promise<Outcome> {
    const { wanted, items, managedBy, collection } = this.#given;
    const own = items.filter((one) => isOwnedBy(one, managedBy));
    let applied = 0;
    for (const { where, key, body } of wanted.entries) {
      const there = own.find((one) => keyOf(nameOf(one, collection)) === key);
      if (await this.#applyEntry(where, body, there)) applied += 1;
    }
    const gone = own.filter((one) => !wanted.entries.some(({ key }) => key === keyOf(nameOf(one, collection))));
    for (const one of wanted.whole ? gone : []) {
      const answer = await this.#write('DELETE', pathOf(one, collection));
      if (answer.status !== 404)
        this.#accepted(`${collection.noun} ${nameOf(one, collection)}, which is no longer declared`, answer);
    }
    return { troubles: this.#troubles, applied };
  }

  /** True when the server holds the entry as declared. */
  async #applyEntry(where: string, body: Body, there: Kept | undefined): Promise<boolean> {
    const { request, collection, managedBy } = this.#given;
    const tried = await request('POST', collection.path, { ...body, validateOnly: true });
    if (!this.#accepted(where, tried)) return false;
    if (!there)
      return this.#accepted(
        where,
        await this.#write('POST', collection.path, { ...collection.creates, ...body, managedBy, validateOnly: false }),
      );
    const path = pathOf(there, collection);
    const read = collection.isWhole ? { ...tried, body: there } : await request('GET', path);
    if (!this.#accepted(where, read)) return false;
    const change = collection.difference(tried.body as Body, read.body as Body);
    return Object.keys(change).length === 0 || this.#accepted(where, await this.#write('PATCH', path, change));
  }

  async #write(...[method, path, body]: Parameters<SendRequest>): Promise<Answer> {
    const answer = await this.#given.request(method, path, body);
    if (answer.status < 300) this.settled = false;
    return answer;
  }

  #accepted(where: string, answer: Answer): boolean {
    if (answer.status < 300) return true;
    this.#troubles.push(`${where}: ${refusalText(answer)}`);
    if (answer.status >= 500 || [404, 429].includes(answer.status)) this.settled = false;
    return false;
  }
}
