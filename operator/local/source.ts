// The files given with -f. They are read again whenever they change.
import { checkResources, type InForce } from './checks.ts';
import { problemText, readDocuments, signatureOf } from './documents.ts';
import { type Resources, toResources } from './resources.ts';

export class Source {
  readonly #paths: readonly string[];
  #signature: string | undefined;
  #observed: string | undefined;
  /** The newest valid state of the files. Single invalid libraries and tuners do not invalidate a state. */
  resources: Resources | undefined;
  /** Why the current files are not in force. */
  problems: string[] = [];
  /** The current files are not in force at all, because of their problems. */
  isRefused = false;

  constructor(paths: readonly string[]) {
    this.#paths = paths;
  }

  /**
   * True when the files changed. Invalid files leave the last valid state in force, and an invalid Library or TunerDevice
   * leaves only its own resource unchanged. After the first read a change is read once two checks found the same state: a
   * file that is still being written may be valid, and declare less than the whole.
   */
  read(inForce: InForce): boolean {
    const before = this.#observed;
    if (!this.changed()) return false;
    if (this.#signature !== undefined && before !== this.#observed) return false;
    this.#signature = this.#observed;
    const { resources, problems } = toResources(readDocuments(this.#paths));
    const all = [...problems, ...checkResources(resources, inForce)];
    this.problems = all.map(problemText);
    this.isRefused = all.some(({ of = '' }) => !APART.some((kind) => of.startsWith(kind)));
    if (!this.isRefused) this.resources = withoutFaulty(resources, new Set(all.map(({ of }) => of)), this.resources);
    return true;
  }

  /** Compares without reading the files. */
  changed(): boolean {
    this.#observed = signatureOf(this.#paths);
    return this.#observed !== this.#signature;
  }
}

/** A problem in a resource of these kinds affects no other resource. */
const APART = ['Library/', 'TunerDevice/'];

/** The resources, with each invalid one in its previous state, or absent. */
function withoutFaulty(resources: Resources, faulty: ReadonlySet<string | undefined>, before?: Resources): Resources {
  const isFaulty = ({ kind, name }: { kind: string; name: string }): boolean => faulty.has(`${kind}/${name}`);
  return {
    ...resources,
    libraries: [...resources.libraries.filter((one) => !isFaulty(one)), ...(before?.libraries.filter(isFaulty) ?? [])],
    tuners: [...resources.tuners.filter((one) => !isFaulty(one)), ...(before?.tuners.filter(isFaulty) ?? [])],
  };
}
