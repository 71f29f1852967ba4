const NORWEGIAN = ['no', 'nb', 'nn'];

/** The first part of a tag, for comparison. Norwegian is one language, whichever of its codes a file has. */
export function firstPart(tag: string): string {
  const first = tag.split('-')[0]?.toLowerCase() ?? '';
  return NORWEGIAN.includes(first) ? 'no' : first;
}

/** Every first part that is compared as equal to that of a tag. */
export function equalParts(tag: string): readonly string[] {
  const first = firstPart(tag);
  return first === 'no' ? NORWEGIAN : [first];
}

/** The canonical form of a BCP 47 tag; undefined for another text. */
export function canonicalTag(text: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(text)[0];
  } catch {
    return undefined;
  }
}
