// Texts of the language that is loaded. Components call the functions of #messages/<feature>.ts, never this.

type Text = string | Readonly<Record<string, string>>;
export type Table = Readonly<Record<string, Text>>;

let tag = 'en';
let table: Table = {};
let plurals = new Intl.PluralRules(tag);
let numbers = new Intl.NumberFormat(tag);

/** Texts of the same language are added. */
export function useTexts(language: string, texts: Table): void {
  table = language === tag ? { ...table, ...texts } : texts;
  tag = language;
  plurals = new Intl.PluralRules(tag);
  numbers = new Intl.NumberFormat(tag);
}

/** The language of the texts, for Intl and the `lang` of the page. */
export const language = (): string => tag;

export function text(key: string, values: Readonly<Record<string, string | number>> = {}): string {
  const found = table[key] ?? unknown(key);
  const form = typeof found === 'string' ? found : formOf(found, Number(values['count']));
  return form.replace(/\{(\w+)\}/g, (_all, name: string) => shown(values[name] ?? ''));
}

/** A fault of the build: the error is for its tests, which fail on every one. */
function unknown(key: string): string {
  (globalThis as { reportError?: (error: Error) => void }).reportError?.(new Error(`no text for ${key}`));
  return key;
}

const shown = (value: string | number): string => (typeof value === 'number' ? numbers.format(value) : value);

const formOf = (forms: Readonly<Record<string, string>>, count: number): string =>
  forms[plurals.select(count)] ?? forms['other'] ?? '';
