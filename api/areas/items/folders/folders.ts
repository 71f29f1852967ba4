import { notFound } from '#kernel/errors.ts';

/** A folder of a library in the folder view: its library folder and the path below it. */
export interface FolderPlace {
  folderId: string;
  /** Below the library folder, without slashes at its ends; empty is the folder itself. */
  path: string;
}

/** FolderNode ids carry their place, so that folders need no rows of their own. */
export function folderNodeId({ folderId, path }: FolderPlace): string {
  const id = Buffer.from(folderId.replaceAll('-', ''), 'hex');
  return Buffer.concat([id, Buffer.from(path)]).toString('base64url');
}

/** 404 for what is no such id. */
export function folderPlace(nodeId: string): FolderPlace {
  const bytes = Buffer.from(nodeId, 'base64url');
  const path = bytes.subarray(16).toString('utf8');
  const crooked = path.startsWith('/') || path.endsWith('/') || path.includes('\0') || path.split('/').includes('..');
  if (bytes.length < 16 || crooked) throw notFound();
  const hex = bytes.subarray(0, 16).toString('hex');
  const folderId = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return { folderId, path };
}
