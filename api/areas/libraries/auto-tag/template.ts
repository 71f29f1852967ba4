// Templates of file names: placeholders between literals, read from left to right in linear time.

export const placeholders = ['title', 'date', 'person', 'studio', 'tag'] as const;
export type Placeholder = (typeof placeholders)[number];

interface Part {
  placeholder: Placeholder;
  /** The literal behind it; empty only for the last. */
  literal: string;
}

export interface Template {
  /** The literal that names begin with. */
  start: string;
  parts: readonly Part[];
}

/** Undefined for a template with an unknown placeholder, without any, or with two next to each other. */
export function parseTemplate(text: string): Template | undefined {
  const [start = '', ...pieces] = text.split('{');
  const parts = pieces.map((piece): Part | undefined => {
    const [name = '', literal, ...more] = piece.split('}');
    const placeholder = placeholders.find((one) => one === name);
    return placeholder && literal !== undefined && more.length === 0 ? { placeholder, literal } : undefined;
  });
  const known = parts.filter((part) => part !== undefined);
  const isWhole = known.length === parts.length && known.length > 0 && !start.includes('}');
  return isWhole && known.slice(0, -1).every(({ literal }) => literal !== '') ? { start, parts: known } : undefined;
}

/** The values of the placeholders in a whole name; undefined when it does not have the form. */
export function readTemplate(
  { start, parts }: Template,
  name: string,
): { placeholder: Placeholder; value: string }[] | undefined {
  if (!name.startsWith(start)) return undefined;
  const found: { placeholder: Placeholder; value: string }[] = [];
  let at = start.length;
  for (const [i, { placeholder, literal }] of parts.entries()) {
    const end = i + 1 < parts.length ? name.indexOf(literal, at + 1) : endOf(name, literal);
    const value = name.slice(at, Math.max(at, end)).trim();
    if (value === '' || (placeholder === 'date' && !isDate(value))) return undefined;
    found.push({ placeholder, value });
    at = end + literal.length;
  }
  return found;
}

/** Where the last literal begins; -1 for a name that does not end with it. */
const endOf = (name: string, literal: string): number => (name.endsWith(literal) ? name.length - literal.length : -1);

const isDate = (text: string): boolean => /^\d{4}([-.]\d{2}([-.]\d{2})?)?$/.test(text);
