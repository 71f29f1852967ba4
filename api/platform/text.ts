// Ends of foreign text. An expression such as /\/+$/ takes time with the square of the text's length; these take one pass.

/** The text without the characters of `signs` at its end. */
export function withoutTail(text: string, signs: string): string {
  let end = text.length;
  while (end > 0 && signs.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** The text without the characters of `signs` at its beginning and end. */
export function withoutEnds(text: string, signs: string): string {
  let start = 0;
  while (start < text.length && signs.includes(text.charAt(start))) start += 1;
  return withoutTail(text.slice(start), signs);
}
