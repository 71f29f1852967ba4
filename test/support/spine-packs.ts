// Packs of works for tests, signed by a key of their own.
import { generateKeyPairSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '#platform/ids.ts';
import { rawKey } from '#platform/spine/manifest.ts';
import { keyOf, type Row, readRow, rowKey, type Work } from '#platform/spine/work.ts';
import { type Described, writePack } from '#platform/spine/write-pack.ts';
import { temporaryFolder } from './stores.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');

/** The text of `spine.trustedKeys` for these packs. */
export const trustedText = `Tests ${rawKey(publicKey).toString('base64')}`;
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;

export interface MadePack {
  bytes: Buffer;
  sha256: string;
  path: string;
}

/** A pack of rows in any order; `gone` are keys that a delta withdraws. */
export async function makePack(
  works: readonly object[],
  { gone = [], ...more }: Partial<Described> & { gone?: readonly string[] } = {},
): Promise<MadePack> {
  const rows: Row[] = [...works.map((work) => readRow(JSON.stringify(work))), ...gone.map((key) => ({ gone: key }))];
  rows.sort((a, b) => (rowKey(a) < rowKey(b) ? -1 : 1));
  const path = join(temporaryFolder('pack'), `${newId()}.foyerspine`);
  const described = {
    ...{ name: 'films', version: '2026.11.1', languages: ['en'], builtAt: '2026-11-24T00:00:00.000Z' },
    sources: [{ name: 'wikidata' as const, dumpedOn: '2026-11-01', licence: 'CC0-1.0' }],
    ...more,
  };
  const written = await writePack(
    path,
    (async function* () {
      yield* rows;
    })(),
    { described, signer: { privateKey: pem, name: 'Tests' } },
  );
  return { bytes: await readFile(path), sha256: written.sha256, path };
}

export const film = (n: number, more: Partial<Work> | object = {}): object => ({
  ...{ kind: 'movie', ids: { wikidata: `Q${n}` }, title: `Film ${n}`, year: 1900 + (n % 120) },
  ...more,
});

export const workKey = (work: object): string => keyOf(work as Work);
