// The files given with -f, read again whenever they change.
import { checkResources, type InForce } from './checks.ts';
import { problemText, readDocuments, signatureOf } from './documents.ts';
import { type Resources, toResources } from './resources.ts';

export class Source {
  readonly #paths: readonly string[];
  #signature: string | undefined;
  #seen: string | undefined;
  /** The newest state of the files that was in order. */
  resources: Resources | undefined;
  /** Why the state of the files now is not in force. */
  problems: string[] = [];

  constructor(paths: readonly string[]) {
    this.#paths = paths;
  }

  /**
   * True when the files changed; a bad state of them leaves the one before. Later than at the start they are read once two looks
   * saw the same: half of a file that is being written may be in order, and want less than the whole.
   */
  read(inForce: InForce): boolean {
    const before = this.#seen;
    if (!this.changed()) return false;
    if (this.#signature !== undefined && before !== this.#seen) return false;
    this.#signature = this.#seen;
    const { resources, problems } = toResources(readDocuments(this.#paths));
    const all = [...problems, ...checkResources(resources, inForce)];
    this.problems = all.map(problemText);
    if (all.length === 0) this.resources = resources;
    return true;
  }

  /** A look that reads nothing. */
  changed(): boolean {
    this.#seen = signatureOf(this.#paths);
    return this.#seen !== this.#signature;
  }
}
