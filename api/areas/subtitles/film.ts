import { getVisibleItem } from '#areas/items/public.ts';
import { type FileSource, findItemSource, findSource, versionOf } from '#areas/streaming/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';

/** A file that subtitles and fonts are taken out of, and what they are kept under. */
export interface Film extends FileSource {
  fileId: string;
  version: string;
}

/** The item's default file, or the one named, which must be the item's. Throws 404. */
export async function getFilm(call: Call, itemId: string, fileId: string | undefined): Promise<Film> {
  const item = await getVisibleItem(call.db, call.who, itemId);
  const source = fileId ? await findSource(call.db, fileId) : await findItemSource(call.db, item.id);
  if (source?.itemId !== item.id) throw notFound();
  return { ...source, fileId: source.id, version: versionOf(source) };
}
