import { createOwnerReset } from '#areas/auth/public.ts';
import { readConfig } from '#platform/config.ts';
import { connectDatabase } from '#platform/db.ts';
import { createLog } from '#platform/log.ts';

/** Run by the operator when nobody can sign in: prints a one-time reset of the owner as JSON. */
const config = readConfig();
const db = connectDatabase(config.databaseUrl, createLog('silent', 'recover-owner'), { max: 1, name: 'foyer-recover' });
const reset = await createOwnerReset(db);
await db.destroy();
if (!reset) {
  process.stderr.write('there is no owner yet: complete the setup\n');
  process.exit(1);
}
process.stdout.write(`${JSON.stringify(reset)}\n`);
