import { type Bucket, ObjectMissing, type Objects } from '#platform/objects.ts';
import { type Destination, DestinationUnavailable, NotStored } from './destination.ts';

const BUCKET: Bucket = 'foyer-backups';

/** Backups in a bucket, below a prefix that is empty or ends with a slash. */
export function objectsDestination(objects: Objects, prefix = ''): Destination {
  const at = (name: string): string => prefix + name;
  return {
    read: (name, range) => objects.get(BUCKET, at(name), range).catch(asUnavailable),
    size: async (name) => (await objects.stat(BUCKET, at(name)).catch(asUnavailable))?.size,
    write: (name, body) => objects.put(BUCKET, at(name), body).catch(asUnavailable),
    async *list(start) {
      try {
        for await (const { key, size, modifiedAt } of objects.list(BUCKET, at(start))) {
          yield { name: key.slice(prefix.length), bytes: size, at: modifiedAt };
        }
      } catch (error) {
        asUnavailable(error);
      }
    },
    remove: (name) => objects.remove(BUCKET, [at(name)]).catch(asUnavailable),
    free: async () => undefined,
  };
}

const READ_ONLY = /AccessDenied|MethodNotAllowed/;
const FULL = /XMinioStorageFull|QuotaExceeded|EntityTooLarge|ENOSPC/;

function asUnavailable(error: unknown): never {
  if (error instanceof ObjectMissing) throw new NotStored(error.message);
  const { code = '', message } = error as { code?: string; message: string };
  const cause = (error as { cause?: { code?: string } }).cause?.code ?? code;
  const state = FULL.test(cause) ? 'full' : READ_ONLY.test(cause) ? 'read-only' : 'unreachable';
  throw new DestinationUnavailable(state, message, { cause: error });
}
