import type { ServerResponse } from 'node:http';
import { identifyAgain } from '#identity/credentials.ts';
import type { Principal } from '#identity/principal.ts';
import type { Db } from '#platform/db.ts';

const LOOK_MS = 10_000;

/** Bytes under way end with the credential that asked for them: at most 20 seconds after a sign-out or a revoked key. */
export function endWithCredential(response: ServerResponse, who: Principal, db: Db): void {
  if (who.sessionId === undefined && who.keyId === undefined) return;
  const look = setInterval(() => {
    identifyAgain(db, who).then(
      (found) => found ?? response.destroy(),
      () => undefined, // the database is away: they go on
    );
  }, LOOK_MS);
  response.once('close', () => clearInterval(look));
}
