import { createHash } from 'node:crypto';
import { nodeArguments } from './desired.ts';
import type { OneShot } from './one-shot.ts';

const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 60_000;

/** Runs api/migrate.ts for each environment that the server is to have; a failed attempt is repeated after a growing pause. */
export class Migration {
  #applied: string | undefined;
  #failures = 0;
  #notBefore = 0;
  state: { state: 'pending' | 'applied' | 'failed'; message: string } = {
    state: 'pending',
    message: 'The migrations have not run yet',
  };

  /** True when the server may be started, or go on, with this environment. */
  async ensure(env: Record<string, string>, run: (job: OneShot) => Promise<number | undefined>): Promise<boolean> {
    const wanted = createHash('sha256').update(JSON.stringify(env)).digest('hex');
    if (this.#applied === wanted) return true;
    if (Date.now() < this.#notBefore) return false;
    const job = { name: 'migrate', ...nodeArguments('api/migrate.ts'), env: { ...env, FOYER_POD: 'migrate' } };
    const code = await run(job);
    if (code === 0) this.#succeeded(wanted);
    else this.#failed(code);
    return code === 0;
  }

  #succeeded(wanted: string): void {
    this.#applied = wanted;
    this.#failures = 0;
    this.state = { state: 'applied', message: 'The schema is that of this version' };
  }

  #failed(code: number | undefined): void {
    this.#notBefore = Date.now() + Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, MAX_PAUSE_MS);
    this.#failures += 1;
    this.state = { state: 'failed', message: `api/migrate.ts ended with ${code ?? 'a signal'}; see logs/migrate.log` };
  }
}
