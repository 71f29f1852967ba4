// Items that are not played are opened: by the browser where it shows the file, else by a program after a download.
import type { ItemDetail } from 'foyer-client';
import * as m from '#messages/item.ts';

const OPENED = ['book', 'comic', 'photo', 'game', 'lesson'];
/** Containers that browsers show by themselves. */
const SHOWN = ['pdf', 'txt', 'jpeg', 'jpg', 'png', 'webp', 'gif', 'avif', 'html'];

/** The address and the text of the button; undefined for an item without a file that the person may have. */
export function openingOf(
  { type, files }: ItemDetail,
  permissions: readonly string[],
): { href: string; text: string } | undefined {
  const file = files.find(({ missing }) => !missing);
  if (!OPENED.includes(type) || !file) return undefined;
  if (SHOWN.includes(file.container)) return { href: `/api/v1/files/${file.id}/stream`, text: m.open() };
  if (!permissions.includes('download:own')) return undefined;
  return { href: `/api/v1/files/${file.id}/download`, text: m.download() };
}
