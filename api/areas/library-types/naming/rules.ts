import { compilePattern, type Matcher, type Values } from './match.ts';

/** Where a pattern is compared: the path inside the library's folder, the name, or the folder that holds the file. */
export const places = ['path', 'name', 'folder'] as const;

export interface Rule {
  pattern: string;
  sample: string;
  on: (typeof places)[number];
}

/** What a rule reads from a path. */
export interface Fit {
  /** Number of the rule in its type. */
  rule: number;
  values: Values;
}

export type Reader = (path: string) => Fit | undefined;

/** Reads paths by the first rule that fits. A known extension is left out before patterns are compared. */
export function readerOf(rules: readonly Rule[], extensions: ReadonlySet<string>): Reader {
  const compiled = rules.map(({ pattern, on }) => ({ on, matcher: compilePattern(pattern) }));
  return (path) => {
    const parts = partsOf(path, extensions);
    for (let rule = 0; rule < compiled.length; rule += 1) {
      const { on, matcher } = compiled[rule] as (typeof compiled)[number];
      const values = fits(matcher, parts[on]);
      if (values) return { rule, values };
    }
    return undefined;
  };
}

function fits(matcher: Matcher | undefined, text: string | undefined): Values | undefined {
  return text === undefined ? undefined : matcher?.match(text);
}

/** Whether the sample of a rule fits its pattern. */
export function fitsSample({ pattern, sample, on }: Rule, extensions: ReadonlySet<string>): boolean {
  const parts = partsOf(sample, extensions);
  const texts = on === 'folder' ? [sample, parts.folder] : [sample, parts[on]];
  return texts.some((text) => text !== undefined && compilePattern(pattern)?.match(text) !== undefined);
}

function partsOf(path: string, extensions: ReadonlySet<string>): Record<Rule['on'], string | undefined> {
  const slash = path.lastIndexOf('/');
  const dot = path.lastIndexOf('.');
  const isNamed = dot > slash + 1 && extensions.has(path.slice(dot + 1).toLowerCase());
  const bare = isNamed ? path.slice(0, dot) : path;
  const above = slash < 0 ? undefined : path.slice(0, slash);
  return { path: bare, name: bare.slice(slash + 1), folder: above?.slice(above.lastIndexOf('/') + 1) };
}
