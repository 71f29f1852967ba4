import { z } from 'zod';
import { createOwnerReset } from '#areas/auth/public.ts';
import { readConfig } from '#platform/config.ts';
import { connectDatabase } from '#platform/db.ts';
import { endProcess } from '#platform/leave.ts';
import { createLog } from '#platform/log.ts';

/**
 * `recover-owner.ts [HASH]`, run by the operator when no one can sign in. Without HASH it creates a one-time token for
 * the owner and prints it as JSON. HASH is the SHA-256 in hex of a token that the operator created and keeps, so that
 * this process never learns the token.
 */
const hash = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .optional()
  .parse(process.argv[2]);
const config = readConfig();
const db = connectDatabase(config.databaseUrl, createLog('silent', 'recover-owner'), { max: 1, name: 'foyer-recover' });
const reset = await createOwnerReset(db, hash === undefined ? undefined : Buffer.from(hash, 'hex'));
await db.destroy();
if (!reset) {
  process.stderr.write('there is no owner yet: complete the setup\n');
  await endProcess(1);
}
process.stdout.write(`${JSON.stringify(reset)}\n`);
