// What a WebDAV server answers to PROPFIND. Large answers are read in a thread of their own.
import { parseXML } from 'webdav';

/** A member of a folder. `path` is decoded and has no slash at either end. */
export interface Member {
  path: string;
  isFolder: boolean;
  size: number;
  modifiedMs: number;
}

interface Answer {
  href: string;
  propstat?: { prop?: { resourcetype?: unknown; getcontentlength?: string | number; getlastmodified?: string } };
}

/** Members whose address cannot be decoded are left out. */
export async function readMembers(text: string): Promise<Member[]> {
  const { multistatus } = (await parseXML(text)) as unknown as { multistatus: { response: Answer[] } };
  return [multistatus.response].flat().flatMap((one) => {
    const path = pathOf(one.href);
    const prop = one.propstat?.prop;
    if (path === undefined || !prop) return [];
    const isFolder =
      typeof prop.resourcetype === 'object' && prop.resourcetype !== null && 'collection' in prop.resourcetype;
    const modifiedMs = Date.parse(prop.getlastmodified ?? '');
    return [
      {
        ...{ path, isFolder, size: sizeOf(prop.getcontentlength) },
        modifiedMs: Number.isNaN(modifiedMs) ? 0 : modifiedMs,
      },
    ];
  });
}

/** Zero for any other value than a size. */
function sizeOf(given: unknown): number {
  const size = Number(given ?? 0);
  return Number.isSafeInteger(size) && size >= 0 ? size : 0;
}

function pathOf(href: unknown): string | undefined {
  try {
    const { pathname } = new URL(String(href), 'http://any.example/');
    return decodeURIComponent(pathname)
      .split('/')
      .filter((part) => part !== '')
      .join('/');
  } catch {
    return undefined;
  }
}
