/** What the fonts of a file may take of the memory of their renderer. */
const MOST_BYTES = 256 * 2 ** 20;

interface Font {
  url: string;
  sizeBytes: number;
}

/** The addresses of the fonts that are loaded: all of them, but those beyond the memory that they may take. */
export function keptFonts(fonts: readonly Font[]): string[] {
  let kept = 0;
  return fonts
    .filter(({ sizeBytes }) => {
      if (kept + sizeBytes > MOST_BYTES) return false;
      kept += sizeBytes;
      return true;
    })
    .map(({ url }) => url);
}
