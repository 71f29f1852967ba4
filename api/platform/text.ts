// Trims foreign text in one pass; an expression such as /\/+$/ takes time quadratic in the length of the text.

/** The text without trailing characters of `signs`. */
export function withoutTail(text: string, signs: string): string {
  let end = text.length;
  while (end > 0 && signs.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** The text without leading and trailing characters of `signs`. */
export function withoutEnds(text: string, signs: string): string {
  let start = 0;
  while (start < text.length && signs.includes(text.charAt(start))) start += 1;
  return withoutTail(text.slice(start), signs);
}
