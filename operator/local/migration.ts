import { createHash } from 'node:crypto';
import { howToGoOnHere } from '../backup-first.ts';
import { nodeArguments } from './desired.ts';
import type { OneShot } from './one-shot.ts';
import { codeVersion } from './version.ts';

const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 60_000;
/** A failed backup is not retried within seconds: each attempt adds an entry to the list of backups. */
const BACKUP_PAUSE_MS = 5 * 60_000;
/** Exit status of `migrate.ts guarded`: a backup is required before the migration. */
const BACKUP_FIRST = 75;

export interface MigrationTools {
  run: (job: OneShot) => Promise<number | undefined>;
  /** Called before a backup, which may take minutes. */
  say?: (line: string) => void;
  /** The upgrade to this version skips the backup. */
  withoutBackup?: boolean;
  /** Name and file of the resource, for messages. */
  server: string;
}

/** Runs api/migrate.ts for each new environment of the server. A failed attempt is repeated after a growing pause. */
export class Migration {
  #applied: string | undefined;
  #failures = 0;
  #notBefore = 0;
  #withoutBackup = false;
  state: { state: 'pending' | 'applied' | 'failed' | 'not-backed-up'; message: string } = {
    state: 'pending',
    message: 'The migrations have not run yet',
  };

  /** True when the server may run with this environment. */
  async ensure(env: Record<string, string>, tools: MigrationTools): Promise<boolean> {
    const wanted = createHash('sha256').update(JSON.stringify(env)).digest('hex');
    if (this.#applied === wanted) return true;
    const { withoutBackup = false } = tools;
    if (withoutBackup !== this.#withoutBackup) this.#notBefore = 0; // the user has decided
    this.#withoutBackup = withoutBackup;
    if (Date.now() < this.#notBefore) return false;
    const migrate = (...words: string[]): Promise<number | undefined> =>
      tools.run(jobOf('migrate', ['api/migrate.ts', ...words], env));
    let code = await migrate(...(withoutBackup ? [] : ['guarded']));
    if (code === BACKUP_FIRST) {
      tools.say?.('creating a backup before the database is migrated');
      if ((await tools.run(jobOf('backup', BACKUP, env))) !== 0) return this.#notBackedUp(tools.server);
      code = await migrate();
    }
    if (code === 0) this.#succeeded(wanted);
    else this.#failed(code);
    return code === 0;
  }

  #succeeded(wanted: string): void {
    this.#applied = wanted;
    this.#failures = 0;
    this.state = { state: 'applied', message: 'The schema matches this version' };
  }

  #failed(code: number | undefined): void {
    this.#notBefore = Date.now() + Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, MAX_PAUSE_MS);
    this.#failures += 1;
    this.state = { state: 'failed', message: `api/migrate.ts ended with ${code ?? 'a signal'}; see logs/migrate.log` };
  }

  #notBackedUp(server: string): false {
    this.#notBefore = Date.now() + BACKUP_PAUSE_MS;
    const how = howToGoOnHere(codeVersion, server);
    const message = `the backup before the upgrade failed, and the database is unchanged; see logs/backup.log. To continue: ${how}`;
    this.state = { state: 'not-backed-up', message };
    return false;
  }
}

const BACKUP = ['workers/backup/before-upgrade.ts', 'alone'];

function jobOf(name: string, [script = '', ...words]: readonly string[], env: Record<string, string>): OneShot {
  const { args, ...how } = nodeArguments(script);
  return { name, ...how, args: [...args, ...words], env: { ...env, FOYER_POD: name } };
}
