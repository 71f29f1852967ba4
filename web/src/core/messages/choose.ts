/** The best of `known` for the tags that a person reads, in their order; the fallback without a match. */
export function bestLanguage(wanted: readonly string[], known: readonly string[], fallback = 'en'): string {
  for (const tag of wanted) {
    const exact = known.find((one) => one.toLowerCase() === tag.toLowerCase());
    const base = tag.toLowerCase().split('-')[0] ?? '';
    const found = exact ?? known.find((one) => one === (SAME[base] ?? base));
    if (found) return found;
  }
  return fallback;
}

/** Tags that use the texts of another tag, as api/platform/languages.ts has them. */
const SAME: Readonly<Record<string, string>> = { no: 'nb', nn: 'nb' };
