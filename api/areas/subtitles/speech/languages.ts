/** Codes that name the same language as the code of the models. */
const SAME: Readonly<Record<string, string>> = { nb: 'no', fil: 'tl', iw: 'he', in: 'id', cmn: 'zh', arb: 'ar' };

/** The code under which a model hears a language; undefined for one that it does not hear. */
export function heardAs(tag: string | null | undefined, languages: readonly string[]): string | undefined {
  const base = tag?.toLowerCase().split('-')[0] ?? '';
  const code = SAME[base] ?? base;
  return languages.includes(code) ? code : undefined;
}

/** True when two tags name the same language, whatever the region. */
export function isSameLanguage(a: string | null | undefined, b: string): boolean {
  const baseOf = (tag: string): string => {
    const base = tag.toLowerCase().split('-')[0] ?? '';
    return SAME[base] ?? base;
  };
  return typeof a === 'string' && a !== '' && baseOf(a) === baseOf(b);
}
