import { withoutEnds } from '#platform/text.ts';
/** The facts that a download is named after. */
export interface Named {
  type: string;
  title: string;
  year?: number | null;
  showTitle?: string | null;
  season?: number | null;
  number?: number | null;
}

/** `Film (1999).mkv`, `Show - S01E02 - Title.mkv`. */
export function titleName(item: Named, extension: string): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const episode = item.type === 'episode' && item.showTitle;
  const numbered = item.number == null ? '' : ` - S${two(item.season ?? 0)}E${two(item.number)}`;
  const base = episode
    ? `${item.showTitle}${numbered} - ${item.title}`
    : item.title + (item.year ? ` (${item.year})` : '');
  return `${safe(base)}${extension}`;
}

/** Replaces characters that some file systems refuse. */
function safe(name: string): string {
  const plain = name.replace(/[\p{C}/\\:*?"<>|]/gu, ' ').replace(/\s+/g, ' ');
  return withoutEnds(plain, '. ').slice(0, 150) || 'file';
}

/** RFC 6266: an ASCII name for old clients, the full name in UTF-8 (RFC 8187). */
export function attachment(name: string): string {
  const bare = name.replace(/^.*[/\\]/, '').replace(/\p{C}/gu, '');
  const ascii = bare
    .normalize('NFKD')
    .replace(/[^\x20-\x7e]/g, '_')
    .replace(/["\\%]/g, '_');
  const exact = encodeURIComponent(bare).replace(/['()*!]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return `attachment; filename="${ascii}"; filename*=UTF-8''${exact}`;
}
