import { notFound } from '#kernel/errors.ts';

/** A folder in the folder view: its library folder and the path below it. */
export interface FolderPlace {
  folderId: string;
  /** Below the library folder, without leading and trailing slashes; empty is the library folder. */
  path: string;
}

/** Encodes the place of a folder in its id, so folders need no rows. */
export function folderNodeId({ folderId, path }: FolderPlace): string {
  const id = Buffer.from(folderId.replaceAll('-', ''), 'hex');
  return Buffer.concat([id, Buffer.from(path)]).toString('base64url');
}

/** Throws 404 for a malformed id. */
export function folderPlace(nodeId: string): FolderPlace {
  const bytes = Buffer.from(nodeId, 'base64url');
  const path = bytes.subarray(16).toString('utf8');
  const malformed = path.startsWith('/') || path.endsWith('/') || path.includes('\0') || path.split('/').includes('..');
  if (bytes.length < 16 || malformed) throw notFound();
  const hex = bytes.subarray(0, 16).toString('hex');
  const folderId = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return { folderId, path };
}
