import { hash } from 'node:crypto';
import { nfoOf } from '../group/decorate.ts';
import type { Draft, Grouping } from '../group/draft.ts';

const BYTES = 8;

/** Fingerprint of everything that a directory describes about an item, except the content of its videos. */
export function fingerprintOf(draft: Draft, grouping: Grouping): string {
  const nfo = nfoOf(draft, grouping);
  const files = draft.files.map((file) => ({ ...file, walked: undefined })); // their content is compared file by file
  const text = JSON.stringify([{ ...draft, files }, nfo && [nfo.name, nfo.size, nfo.mtimeMs]]);
  return hash('sha256', text, 'hex').slice(0, BYTES * 2);
}

export function writeFingerprints(made: readonly string[]): string {
  return made.join('');
}

export function readFingerprints(stored: Buffer | null | undefined): Set<string> {
  const text = stored?.toString('hex') ?? '';
  const count = text.length / (BYTES * 2);
  return new Set(Array.from({ length: count }, (_, i) => text.slice(i * BYTES * 2, (i + 1) * BYTES * 2)));
}
