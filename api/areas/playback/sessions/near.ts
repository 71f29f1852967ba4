import { away, findOpenings } from '#areas/streaming/public.ts';
import type { Call } from '#kernel/endpoint.ts';

/** The files that are not away now, whatever was last noted of their storages. Throws 423 when all are. */
export async function refuseUnavailable<File extends { id: string }>(
  call: Call,
  files: readonly File[],
): Promise<File[]> {
  const found = await findOpenings(
    call,
    files.map(({ id }) => id),
  );
  const near = files.filter(({ id }) => found.get(id)?.kind !== 'away');
  const [first] = found.values();
  if (near.length > 0 || first?.kind !== 'away') return near;
  throw away(call, first.storageId, first.reason);
}
