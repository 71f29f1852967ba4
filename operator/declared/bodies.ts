// What spec.declared says, brought to the server through its public API: read, compared, and written only where it differs.
import { createHash } from 'node:crypto';
import { type Answer, type Ask, refusalText, Unreachable } from '../server-api/server-client.ts';
import type { ManagedBy } from '../server-environment.ts';
import { type Body, type Collection, collections } from './collections.ts';
import { type DeclaredMap, keyOf, otherFiles, type Wanted, wantedOf } from './files.ts';

/** What came of the last pass. */
export interface ObservedDeclared {
  /** What was refused or could not be read, for people. */
  troubles: string[];
  /** Files that this version does nothing with. */
  unserved: string[];
  /** Entries that the server holds as they are said. */
  applied: number;
}

/** How soon drift is looked for; a changed ConfigMap is never waited for. */
const HOLDS_MS = 10_000;

interface Kept {
  id: string;
  name: string;
  revision: number;
  managedBy?: ManagedBy;
  serverDefault?: boolean;
}

/** A collection as it was found when nothing was left to do but what the server refuses for good. */
interface Rest {
  /** What was said, and what the server held. */
  print: string;
  outcome: Outcome;
}

interface Outcome {
  troubles: string[];
  applied: number;
}

export interface DeclaredGiven {
  ask: Ask;
  maps: readonly DeclaredMap[];
  managedBy: ManagedBy;
}

/** Of one server. */
export class DeclaredBodies {
  readonly #rests = new Map<string, Rest>();
  readonly #holdsMs: number;
  #last: { at: number; said: string; seen: ObservedDeclared } | undefined;

  constructor(holdsMs = HOLDS_MS) {
    this.#holdsMs = holdsMs;
  }

  /** What the last pass came to. */
  get seen(): ObservedDeclared | undefined {
    return this.#last?.seen;
  }

  /** One pass; the server going away in the middle ends it, and the next one goes on. */
  async pass(given: DeclaredGiven): Promise<ObservedDeclared | undefined> {
    const said = printOf(given.maps.map(({ configMap, files }) => [configMap, files && Object.entries(files)]));
    const last = this.#last;
    if (last?.said === said && performance.now() - last.at < this.#holdsMs) return last.seen;
    try {
      const seen = await this.#all(given);
      this.#last = { at: performance.now(), said, seen };
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
    }
    return this.#last?.seen;
  }

  async #all(given: DeclaredGiven): Promise<ObservedDeclared> {
    const { unserved, unknown } = otherFiles(given.maps);
    const seen: ObservedDeclared = { troubles: unknown, unserved, applied: 0 };
    for (const [file, collection] of Object.entries(collections)) {
      const { troubles, applied } = await this.#one(file, collection, given);
      seen.troubles.push(...troubles);
      seen.applied += applied;
    }
    return { ...seen, troubles: [...new Set(seen.troubles)] };
  }

  async #one(file: string, collection: Collection, { ask, maps, managedBy }: DeclaredGiven): Promise<Outcome> {
    const wanted = wantedOf(file, maps);
    const listed = await ask('GET', collection.path);
    const { items } = (listed.body ?? {}) as { items?: Kept[] };
    if (listed.status !== 200 || !items) return { troubles: [...wanted.troubles, refusalText(listed)], applied: 0 };
    const print = printOf([wanted, items.map((one) => weightOf(one, managedBy))]);
    const rest = this.#rests.get(file);
    if (rest?.print === print) return rest.outcome;
    const round = new Round({ ask, collection, managedBy, wanted, items });
    const outcome = await round.run();
    // What was written is looked at again, and what failed for now tried again.
    if (round.settled) this.#rests.set(file, { print, outcome });
    else this.#rests.delete(file);
    return outcome;
  }
}

const printOf = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('base64url');

const isOf = ({ managedBy }: Kept, { kind, namespace, name }: ManagedBy): boolean =>
  managedBy?.kind === kind && managedBy.namespace === namespace && managedBy.name === name;

/** Of those that others made the name alone matters: it may be in the way. */
const weightOf = (one: Kept, by: ManagedBy): unknown[] =>
  isOf(one, by) ? [one.id, one.name, one.revision, one.serverDefault] : [one.name];

interface RoundGiven {
  ask: Ask;
  collection: Collection;
  managedBy: ManagedBy;
  wanted: Wanted;
  items: readonly Kept[];
}

/** One look at every entry, and at what is there and no longer said. */
class Round {
  readonly #given: RoundGiven;
  readonly #troubles: string[];
  /** Nothing was written, and nothing failed that may succeed when it is asked again. */
  settled = true;

  constructor(given: RoundGiven) {
    this.#given = given;
    this.#troubles = [...given.wanted.troubles];
  }

  async run(): Promise<Outcome> {
    const { wanted, items, managedBy, collection } = this.#given;
    const own = items.filter((one) => isOf(one, managedBy));
    let applied = 0;
    for (const { where, key, body } of wanted.entries) {
      const there = own.find(({ name }) => keyOf(name) === key);
      if (await this.#bring(where, body, there)) applied += 1;
    }
    const gone = own.filter(({ name }) => !wanted.entries.some(({ key }) => key === keyOf(name)));
    for (const { id, name } of wanted.whole ? gone : []) {
      const answer = await this.#write('DELETE', `${collection.path}/${id}`);
      if (answer.status !== 404) this.#took(`${collection.noun} ${name}, which is no longer declared`, answer);
    }
    return { troubles: this.#troubles, applied };
  }

  /** True when the server holds it as it is said. */
  async #bring(where: string, body: Body, there: Kept | undefined): Promise<boolean> {
    const { ask, collection, managedBy } = this.#given;
    const tried = await ask('POST', collection.path, { ...body, validateOnly: true });
    if (!this.#took(where, tried)) return false;
    if (!there)
      return this.#took(where, await this.#write('POST', collection.path, { ...body, managedBy, validateOnly: false }));
    const path = `${collection.path}/${there.id}`;
    const read = await ask('GET', path);
    if (!this.#took(where, read)) return false;
    const change = collection.difference(tried.body as Body, read.body as Body);
    return Object.keys(change).length === 0 || this.#took(where, await this.#write('PATCH', path, change));
  }

  async #write(...[method, path, body]: Parameters<Ask>): Promise<Answer> {
    const answer = await this.#given.ask(method, path, body);
    if (answer.status < 300) this.settled = false;
    return answer;
  }

  #took(where: string, answer: Answer): boolean {
    if (answer.status < 300) return true;
    this.#troubles.push(`${where}: ${refusalText(answer)}`);
    if (answer.status >= 500 || [404, 429].includes(answer.status)) this.settled = false;
    return false;
  }
}
