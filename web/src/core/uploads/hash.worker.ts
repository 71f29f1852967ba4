// Hashes pieces of files outside the page's main thread; pages without TLS have no crypto.subtle.
import { sha256 } from '@noble/hashes/sha2.js';

/** To the worker: a piece of a file. */
export interface ToHash {
  id: number;
  piece: Blob;
}
/** From the worker: its SHA-256 in hex, or why it could not be read. */
export type FromHash = { id: number } & ({ sha256: string } | { fault: string });

const hex = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');

async function hashOf(piece: Blob): Promise<string> {
  const bytes = new Uint8Array(await piece.arrayBuffer());
  const subtle = (globalThis.crypto as Crypto | undefined)?.subtle;
  return hex(subtle ? new Uint8Array(await subtle.digest('SHA-256', bytes)) : sha256(bytes));
}

addEventListener('message', async ({ data }: MessageEvent<ToHash>) => {
  const answer = (rest: { sha256: string } | { fault: string }): void => postMessage({ id: data.id, ...rest });
  try {
    answer({ sha256: await hashOf(data.piece) });
  } catch (error) {
    answer({ fault: String(error) });
  }
});
