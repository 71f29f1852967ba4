// Names of uploaded files: what may be uploaded by its name, and the name that a file gets in its folder.
import { rawExtensions } from '#platform/media-extensions.ts';
import { withoutEnds } from '#platform/text.ts';

const PICTURES = ['jpg', 'jpeg', 'png', 'webp', 'avif', 'heic', 'heif', 'jxl', 'gif', 'tif', 'tiff', ...rawExtensions];
const FILMS = ['mp4', 'm4v', 'mov', 'mkv', 'webm', 'avi', '3gp', '3g2'];
const SIDECAR = 'xmp';

export type UploadKind = 'picture' | 'film' | 'sidecar';

/** The extension in lower case, without its dot; empty without one. */
export function extensionOf(name: string): string {
  const at = name.lastIndexOf('.');
  return at > 0 ? name.slice(at + 1).toLowerCase() : '';
}

/** What a file of this name can be; undefined when it is not uploaded. */
export function kindOfName(name: string): UploadKind | undefined {
  const extension = extensionOf(name);
  if (PICTURES.includes(extension)) return 'picture';
  if (FILMS.includes(extension)) return 'film';
  return extension === SIDECAR ? 'sidecar' : undefined;
}

/** The most bytes of a name in a folder. */
const MOST_BYTES = 150;
/** Names that other systems keep for devices. */
const DEVICES = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** White space is a space, and what no name may hold an underscore. */
const sign = (found: string): string => (/\s/.test(found) && found !== '\0' ? ' ' : '_');

/** A name that every file system takes and that is no path; undefined when it would be empty. */
export function cleanName(name: string): string | undefined {
  const plain = withoutEnds(name.normalize('NFC').replace(/[\p{C}/\\:*?"<>|\s]/gu, sign), '. ');

  const extension = extensionOf(plain);
  const stem = cutTo(extension ? plain.slice(0, -extension.length - 1) : plain, MOST_BYTES - extension.length - 1);
  if (/^_*$/.test(stem)) return undefined;
  const safe = DEVICES.test(stem) ? `_${stem}` : stem;
  return extension ? `${safe}.${extension}` : safe;
}

/** Cuts between code points. */
function cutTo(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  let kept = '';
  let size = 0;
  for (const sign of text) {
    size += Buffer.byteLength(sign);
    if (size > bytes) break;
    kept += sign;
  }
  return kept.trimEnd();
}

/** The name with -2, -3 and so on before its extension; the first try has none. */
export function numbered(name: string, at: number): string {
  if (at < 2) return name;
  const extension = extensionOf(name);
  return extension ? `${name.slice(0, -extension.length - 1)}-${at}.${extension}` : `${name}-${at}`;
}
