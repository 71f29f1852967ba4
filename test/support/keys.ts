import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { exportJWK, generateKeyPair } from 'jose';
import { newId } from '#platform/ids.ts';

/** Writes a key ring as the operator would. */
export async function writeKeys(file: string): Promise<void> {
  const jwk = async (): Promise<object> =>
    exportJWK((await generateKeyPair('EdDSA', { extractable: true })).privateKey);
  const ring = {
    signing: [{ kid: 's1', jwk: await jwk() }],
    sealing: [{ kid: 'k1', key: randomBytes(32).toString('base64') }],
    cursor: randomBytes(32).toString('base64'),
    identity: { jwk: await jwk() },
    vapid: { jwk: await exportJWK((await generateKeyPair('ES256', { extractable: true })).privateKey) },
    serverId: newId(),
  };
  writeFileSync(file, JSON.stringify(ring), { mode: 0o600 });
}
