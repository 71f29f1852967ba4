// Messages between a process and the child that reads its mounts.

export type Op = 'list' | 'stat' | 'read' | 'write' | 'remove' | 'space' | 'fingerprint' | 'writable';

/** `path` is inside `folder`, which is inside the media root at `root`. */
export interface Request {
  id: number;
  op: Op;
  root: string;
  folder: string;
  path: string;
  most?: number;
  start?: number;
  length?: number;
  content?: Buffer;
  replace?: boolean;
}

export type Response = { id: number; value: unknown } | { id: number; code: string };
