import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import type { Config } from '#platform/config.ts';

/** Names of unreadable media roots. */
export async function unreadableRoots({ mediaRoots }: Pick<Config, 'mediaRoots'>): Promise<string[]> {
  const readable = await Promise.all(
    mediaRoots.map(({ path }) =>
      access(path, constants.R_OK).then(
        () => true,
        () => false,
      ),
    ),
  );
  return mediaRoots.filter((_, index) => !readable[index]).map(({ name }) => name);
}

/** `off` without media roots, `down` when all are unreadable, `degraded` when some are. */
export async function storageHealth(config: Pick<Config, 'mediaRoots'>): Promise<'ok' | 'degraded' | 'down' | 'off'> {
  const { length } = config.mediaRoots;
  if (length === 0) return 'off';
  const unreadable = (await unreadableRoots(config)).length;
  if (unreadable === 0) return 'ok';
  return unreadable < length ? 'degraded' : 'down';
}
