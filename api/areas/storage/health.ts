import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import type { Config } from '#platform/config.ts';

/** Names of media roots that cannot be read now. */
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

/** Off without media, down when none can be read, degraded when some cannot. */
export async function storageHealth(config: Pick<Config, 'mediaRoots'>): Promise<'ok' | 'degraded' | 'down' | 'off'> {
  const { length } = config.mediaRoots;
  if (length === 0) return 'off';
  const away = (await unreadableRoots(config)).length;
  if (away === 0) return 'ok';
  return away < length ? 'degraded' : 'down';
}
