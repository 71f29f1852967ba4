/** Bibliographic codes of ISO 639-2, which Intl does not know, and words that players write instead of a code. */
const OLD: Readonly<Record<string, string>> = {
  alb: 'sq',
  arm: 'hy',
  baq: 'eu',
  bur: 'my',
  chi: 'zh',
  cze: 'cs',
  dut: 'nl',
  fre: 'fr',
  geo: 'ka',
  ger: 'de',
  gre: 'el',
  ice: 'is',
  mac: 'mk',
  mao: 'mi',
  may: 'ms',
  per: 'fa',
  rum: 'ro',
  slo: 'sk',
  tib: 'bo',
  wel: 'cy',
};
/** No tag is longer. */
const MAX = 100;
const NONE = new Set(['', 'und', 'mis', 'mul', 'zxx', 'qaa', 'root']);

/** The BCP 47 tag for a container's language (`eng`, `fre`, `pt-BR`), or undefined. */
export function languageTag(declared: string | undefined): string | undefined {
  const word = declared?.slice(0, MAX).replaceAll('\0', '').trim().replaceAll('_', '-') ?? '';
  if (NONE.has(word.toLowerCase())) return undefined;
  const [first = '', ...rest] = word.split('-');
  try {
    return Intl.getCanonicalLocales([OLD[first.toLowerCase()] ?? first, ...rest].join('-'))[0];
  } catch {
    return undefined;
  }
}
