// Files of `run/` that other processes of this machine read.
import { join } from 'node:path';
import type { Server } from './environment.ts';
import { writeWhole } from './files.ts';
import type { Resources } from './resources.ts';

export class RunFiles {
  readonly #folder: string;
  #environment = '';

  /** `dir` is the data directory. */
  constructor(dir: string) {
    this.#folder = join(dir, 'run');
  }

  /** For `recover-owner`, which runs as a process of its own. */
  keepEnvironment(environment: Record<string, string>): void {
    const text = JSON.stringify(environment);
    if (text !== this.#environment) writeWhole(join(this.#folder, 'environment.json'), text);
    this.#environment = text;
  }

  /** Username and password of the owner, where a Secret has them. */
  writeOwner({ spec }: Server, resources: Resources): void {
    const owner = spec.ownerSecretRef && resources.secrets.get(spec.ownerSecretRef.name);
    if (!owner) return;
    const { username, password } = owner;
    writeWhole(join(this.#folder, 'owner.json'), JSON.stringify({ username, password }));
  }
}
