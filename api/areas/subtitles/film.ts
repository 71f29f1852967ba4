import { getVisibleItem } from '#areas/items/public.ts';
import { type FileSource, findItemSource, findSource, versionOf } from '#areas/streaming/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';

/** A source file of subtitles and fonts, with the version under which they are stored. */
export interface Film extends FileSource {
  fileId: string;
  version: string;
}

/** The item's default file, or the named file of the item. Throws 404. */
export async function getFilm(call: Call, itemId: string, fileId: string | undefined): Promise<Film> {
  const item = await getVisibleItem(call.db, call.who, itemId);
  const source = fileId ? await findSource(call.db, fileId) : await findItemSource(call.db, item.id);
  if (source?.itemId !== item.id) throw notFound();
  return { ...source, fileId: source.id, version: versionOf(source) };
}
