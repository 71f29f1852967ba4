// A break on purpose: a change of one file as a regression could make it, and the test that must fail by it.

export interface Break {
  /** The rule that it breaks. */
  rule: string;
  file: string;
  /** Occurs once in the file. */
  text: string;
  instead: string;
  /** The file of the test, and a part of the title. */
  test: string;
  title: string;
  /** Of the test, to run the part of it that the break concerns. */
  env?: Readonly<Record<string, string>>;
}

/** The source with the break in it; undefined where its text does not occur exactly once. */
export function broken(source: string, { text, instead }: Pick<Break, 'text' | 'instead'>): string | undefined {
  const parts = source.split(text);
  return parts.length === 2 ? parts.join(instead) : undefined;
}
