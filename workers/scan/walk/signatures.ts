import { hash } from 'node:crypto';
import { isMedia } from '../names/media.ts';
import type { WalkedDirectory, WalkedFile, WalkOrder } from './types.ts';

/** Signature of the sidecars and the grouping code; a change groups the items of the directory again. */
export function signatureOf(
  files: readonly WalkedFile[],
  { version, type }: Pick<WalkOrder, 'version' | 'type'>,
): string {
  const sidecars = files.filter((file) => !isMedia(type, file.name));
  if (sidecars.length === 0) return `${version} -`;
  const text = sidecars.map((file) => `${file.name}\0${file.size}\0${Math.trunc(file.mtimeMs)}`).join('\n');
  return `${version} ${hash('sha256', text, 'base64url').slice(0, 22)}`;
}

/** Signature of everything listed; empty if the directory must be reported each time. */
export function contentOf({ state, files, directories, issues }: WalkedDirectory, version: string): string {
  if (state !== 'listed' || issues.length > 0) return '';
  const lines = files.map((file) => `${file.name}\0${file.size}\0${Math.trunc(file.mtimeMs)}\0${file.inode}`);
  return hash('sha256', [version, ...directories, '', ...lines].join('\n'), 'base64url').slice(0, 27);
}
