import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { exportJWK, generateKeyPair } from 'jose';
import { newId } from '#platform/ids.ts';

export interface Ring {
  signing: { kid: string; jwk: object }[];
  sealing: { kid: string; key: string }[];
  cursor: string;
}

const jwk = async (): Promise<object> => exportJWK((await generateKeyPair('EdDSA', { extractable: true })).privateKey);

export const newSigning = async (kid: string): Promise<Ring['signing'][number]> => ({ kid, jwk: await jwk() });
export const newSealing = (kid: string): Ring['sealing'][number] => ({ kid, key: randomBytes(32).toString('base64') });

/** The file is replaced in one step, as a mounted Secret is. */
export function changeKeys(file: string, edit: (ring: Ring) => void): void {
  const ring = JSON.parse(readFileSync(file, 'utf8')) as Ring;
  edit(ring);
  writeFileSync(`${file}.new`, JSON.stringify(ring), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Writes a key ring as the operator would. */
export async function writeKeys(file: string): Promise<void> {
  const ring = {
    signing: [await newSigning('s1')],
    sealing: [newSealing('k1')],
    cursor: randomBytes(32).toString('base64'),
    identity: { jwk: await jwk() },
    vapid: { jwk: await exportJWK((await generateKeyPair('ES256', { extractable: true })).privateKey) },
    serverId: newId(),
  };
  writeFileSync(file, JSON.stringify(ring), { mode: 0o600 });
}
