/** Deeper than any valid body, and shallow enough for a recursive walk. */
const MOST_DEPTH = 32;
/** Values of one body; the longest valid list has 5000 folders of three members. */
const MOST_VALUES = 20_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENS = new Set([0x5b, 0x7b]);
const CLOSES = new Set([0x5d, 0x7d]);

/** Index of the closing quote of the text that starts at `start`. */
function endOfText(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

/** The fault in the shape of a JSON text, found before parsing, because each value costs more afterwards. */
export function shapeFault(bytes: Uint8Array): 'too_deep' | 'too_many_values' | undefined {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) at = endOfText(bytes, at);
    else if (CLOSES.has(byte)) depth -= 1;
    else if (byte === COMMA) values += 1;
    else if (OPENS.has(byte)) {
      depth += 1;
      values += 1;
    }
    if (depth > MOST_DEPTH) return 'too_deep';
    if (values > MOST_VALUES) return 'too_many_values';
  }
  return undefined;
}
