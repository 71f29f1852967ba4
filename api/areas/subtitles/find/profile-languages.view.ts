import { z } from 'zod';
import type { Db } from '#platform/db.ts';

const MOST = 5;
const Preferences = z.object({ subtitleLanguages: z.array(z.string().max(35)).default([]) });

/** The subtitle languages that a profile prefers, with the server's defaults. */
export async function profileLanguages(
  db: Db,
  profileId: string,
  defaults: Record<string, unknown>,
): Promise<string[]> {
  const row = await db('profiles').where({ id: profileId }).first('preferences');
  const read = Preferences.safeParse({ ...defaults, ...row?.preferences });
  return read.success ? read.data.subtitleLanguages.slice(0, MOST) : [];
}
