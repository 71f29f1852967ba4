// Tokens by which a process without keys reads one file of a remote storage through the API. Pure.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';

/** The file that a token names, as its row describes it. */
export interface RelayedFile {
  storageId: string;
  folderId: string;
  /** Inside the storage. */
  path: string;
  sizeBytes: number;
  modifiedMs: number;
}

/** A token is valid for this long. */
export const TOKEN_MS = 6 * 60 * 60_000;

const Content = z.tuple([z.uuid(), z.uuid(), z.string().min(1), z.number(), z.number(), z.number()]);

const signatureOf = (key: Buffer, body: string): Buffer => createHmac('sha256', key).update(body).digest();

export function tokenOf(key: Buffer, file: RelayedFile, now = Date.now()): string {
  const { storageId, folderId, path, sizeBytes, modifiedMs } = file;
  const content: z.output<typeof Content> = [storageId, folderId, path, sizeBytes, modifiedMs, now + TOKEN_MS];
  const body = Buffer.from(JSON.stringify(content)).toString('base64url');
  return `${body}.${signatureOf(key, body).toString('base64url')}`;
}

/** The file of a valid token; undefined for another signature, after its expiry, and for a path that could leave its folder. */
export function fileOf(key: Buffer, token: string, now = Date.now()): RelayedFile | undefined {
  const [body = '', given = ''] = token.split('.', 2);
  const signature = Buffer.from(given, 'base64url');
  const expected = signatureOf(key, body);
  if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) return undefined;
  const content = Content.safeParse(JSON.parse(Buffer.from(body, 'base64url').toString()));
  if (!content.success) return undefined;
  const [storageId, folderId, path, sizeBytes, modifiedMs, until] = content.data;
  if (until <= now || path.split('/').some((segment) => /^\.{0,2}$/.test(segment))) return undefined;
  return { storageId, folderId, path, sizeBytes, modifiedMs };
}
