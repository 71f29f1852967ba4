import type { ServerResponse } from 'node:http';
import { identifyAgain } from '#identity/credentials.ts';
import type { Principal } from '#identity/principal.ts';
import type { Db } from '#platform/db.ts';

const LOOK_MS = 10_000;

/** Ends a transfer with its credential: at most 20 seconds after a sign-out or a revoked key. */
export function endWithCredential(response: ServerResponse, who: Principal, db: Db): void {
  if (who.sessionId === undefined && who.keyId === undefined) return;
  const look = setInterval(() => {
    identifyAgain(db, who).then(
      (found) => found ?? response.destroy(),
      () => undefined, // transfers continue while the database is unavailable
    );
  }, LOOK_MS);
  response.once('close', () => clearInterval(look));
}
