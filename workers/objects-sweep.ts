import { forgetReplacedLogos } from '#areas/branding/public.ts';
import type { Work } from './work.ts';

/** Bytes that no row needs any more: logos that were replaced 30 days ago. */
export async function sweepObjects(_payload: unknown, { db, objects }: Work): Promise<void> {
  await forgetReplacedLogos(db, objects);
}
