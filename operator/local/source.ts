// The files given with -f, read again whenever they change.
import { checkResources, type InForce } from './checks.ts';
import { problemText, readDocuments, signatureOf } from './documents.ts';
import { type Resources, toResources } from './resources.ts';

export class Source {
  readonly #paths: readonly string[];
  #signature: string | undefined;
  #seen: string | undefined;
  /** The newest state of the files that was in order, or in order but for single libraries and tuners. */
  resources: Resources | undefined;
  /** Why the state of the files now is not in force. */
  problems: string[] = [];
  /** The files are not in force at all, for what is wrong in them. */
  isRefused = false;

  constructor(paths: readonly string[]) {
    this.#paths = paths;
  }

  /**
   * True when the files changed; a bad state of them leaves the one before, and a Library or TunerDevice that is wrong leaves the others
   * as they are. Later than at the start they are read once two looks saw the same: half of a file that is being written may be in
   * order, and want less than the whole.
   */
  read(inForce: InForce): boolean {
    const before = this.#seen;
    if (!this.changed()) return false;
    if (this.#signature !== undefined && before !== this.#seen) return false;
    this.#signature = this.#seen;
    const { resources, problems } = toResources(readDocuments(this.#paths));
    const all = [...problems, ...checkResources(resources, inForce)];
    this.problems = all.map(problemText);
    this.isRefused = all.some(({ of = '' }) => !APART.some((kind) => of.startsWith(kind)));
    if (!this.isRefused) this.resources = withoutFaulty(resources, new Set(all.map(({ of }) => of)), this.resources);
    return true;
  }

  /** A look that reads nothing. */
  changed(): boolean {
    this.#seen = signatureOf(this.#paths);
    return this.#seen !== this.#signature;
  }
}

/** What is wrong with one of these concerns no other resource. */
const APART = ['Library/', 'TunerDevice/'];

/** The resources, where each that is wrong is as it was before, or absent. */
function withoutFaulty(resources: Resources, faulty: ReadonlySet<string | undefined>, before?: Resources): Resources {
  const isFaulty = ({ kind, name }: { kind: string; name: string }): boolean => faulty.has(`${kind}/${name}`);
  return {
    ...resources,
    libraries: [...resources.libraries.filter((one) => !isFaulty(one)), ...(before?.libraries.filter(isFaulty) ?? [])],
    tuners: [...resources.tuners.filter((one) => !isFaulty(one)), ...(before?.tuners.filter(isFaulty) ?? [])],
  };
}
