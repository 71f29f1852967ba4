// The files given with -f, read again whenever they change.
import { checkResources, type InForce } from './checks.ts';
import { problemText, readDocuments, signatureOf } from './documents.ts';
import { type Resources, toResources } from './resources.ts';

export class Source {
  readonly #paths: readonly string[];
  #signature: string | undefined;
  /** The newest state of the files that was in order. */
  resources: Resources | undefined;
  /** Why the state of the files now is not in force. */
  problems: string[] = [];

  constructor(paths: readonly string[]) {
    this.#paths = paths;
  }

  /** True when the files changed since the last look; a bad state of them leaves the one before. */
  read(inForce: InForce): boolean {
    const signature = signatureOf(this.#paths);
    if (signature === this.#signature) return false;
    this.#signature = signature;
    const { resources, problems } = toResources(readDocuments(this.#paths));
    const all = [...problems, ...checkResources(resources, inForce)];
    this.problems = all.map(problemText);
    if (all.length === 0) this.resources = resources;
    return true;
  }

  /** A look that reads nothing. */
  changed(): boolean {
    return signatureOf(this.#paths) !== this.#signature;
  }
}
