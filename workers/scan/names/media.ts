import { extensionsOf } from '#platform/media-extensions.ts';
import { kindOf, splitName } from './kinds.ts';

/** Whether a file becomes an item, or a version of one, in a library of the type. Plain files are all items. */
export function isMedia(type: string, name: string): boolean {
  return type === 'files' || extensionsOf(type).has(splitName(name).extension);
}

/** Whether a scan notes the file at all: media, or what may belong to some. */
export function isNoted(type: string, name: string): boolean {
  return kindOf(name) !== 'other' || isMedia(type, name);
}
