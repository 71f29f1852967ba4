// OpenSubtitles has its own codes where a language has several written forms.
import { canonicalTag, firstPart } from '../tags.ts';

const TO: Readonly<Record<string, readonly string[]>> = {
  pt: ['pt-pt', 'pt-br'],
  'pt-br': ['pt-br'],
  'pt-pt': ['pt-pt'],
  zh: ['zh-cn', 'zh-tw', 'ze'],
  'zh-hans': ['zh-cn'],
  'zh-cn': ['zh-cn'],
  'zh-hant': ['zh-tw'],
  'zh-tw': ['zh-tw'],
  'zh-hk': ['zh-tw'],
  'sr-latn': ['sr'],
  me: ['me'],
  fil: ['tl'],
};
const FROM: Readonly<Record<string, string>> = {
  ...{ 'zh-cn': 'zh-Hans', 'zh-tw': 'zh-Hant', ze: 'zh', 'pt-br': 'pt-BR', 'pt-pt': 'pt-PT', 'es-ar': 'es-AR' },
  ...{ pb: 'pt-BR', ea: 'es-419', sx: 'sat', me: 'sr-ME', tl: 'fil' },
};

/** The codes of OpenSubtitles for BCP 47 tags, sorted as it wants them. */
export function codesOf(languages: readonly string[]): string[] {
  const codes = languages.flatMap((tag) => {
    const low = tag.toLowerCase();
    return TO[low] ?? TO[firstPart(tag)] ?? [firstPart(tag)];
  });
  return [...new Set(codes)].sort();
}

/** The BCP 47 tag of a code; undefined for another text. */
export function tagOf(code: string): string | undefined {
  const low = code.toLowerCase();
  return canonicalTag(FROM[low] ?? low);
}
