/** Patterns of gitignore: `*`, `?`, `[a-z]` and `**` as there, `!` takes back, `/` at the end is for folders, a slash elsewhere ties to the folder of the file. */

interface Rule {
  pattern: RegExp;
  not: boolean;
  folders: boolean;
}

export interface IgnoreRules {
  /** Folder the rules stand in, relative as the paths are; empty is the top. */
  base: string;
  rules: readonly Rule[];
}

const MAX_LINES = 1000;
const MAX_LINE = 400;

/** Reads the lines of a `.foyerignore`, or a library's own globs. */
export function readIgnore(base: string, lines: readonly string[]): IgnoreRules {
  return { base, rules: lines.slice(0, MAX_LINES).flatMap((line) => ruleOf(line.replace(/\r$/, '')) ?? []) };
}

function ruleOf(line: string): Rule | undefined {
  if (line.trim() === '' || line.startsWith('#') || line.length > MAX_LINE) return undefined;
  const not = line.startsWith('!');
  const text = (not ? line.slice(1) : line).replace(/(?<!\\) +$/, '');
  const folders = text.endsWith('/');
  const bare = text.replace(/\/+$/, '');
  const tied = bare.includes('/');
  const source = sourceOf(bare.replace(/^\//, ''));
  return { pattern: new RegExp(`${tied ? '^' : '(?:^|/)'}${source}$`, 'su'), not, folders };
}

const TOKENS = /\/\*\*\/|\*\*\/|\/\*\*$|\*+|\?|\[[!^]?\]?(?:\\.|[^\]\\])*\]|\\.|[^*?\\/[]+|\/|\\|\[/gsu;

/** The pattern as a regular expression; runs of stars are one, so that matching stays linear enough. */
function sourceOf(glob: string): string {
  let source = '';
  for (const [token] of glob.matchAll(TOKENS)) source += translated(token);
  return source;
}

const NOTHING = '(?!)';

function translated(token: string): string {
  if (token === '/**/') return '/(?:.*/)?';
  if (token === '**/') return '(?:.*/)?';
  if (token === '/**') return '/.*';
  if (token.startsWith('*')) return '[^/]*';
  if (token === '?') return '[^/]';
  if (token.startsWith('[')) return token.length > 1 ? `(?!/)${classOf(token)}` : NOTHING; // one that is never closed
  return RegExp.escape(token.length === 2 && token.startsWith('\\') ? token.slice(1) : token);
}

/** `[abc]`, `[a-z]`, `[!a]`; one with a range that ends before it begins matches nothing. */
function classOf(token: string): string {
  const [, not = '', inner = ''] = /^\[([!^]?)(.*)\]$/su.exec(token) ?? [];
  const parts = [...inner.matchAll(/\\?(.)-\\?(.)|\\?(.)/gsu)].map(([, from, to, one]) =>
    from === undefined || to === undefined ? coded(one ?? '') : `${coded(from)}-${coded(to)}`,
  );
  const source = `[${not ? '^' : ''}${parts.join('')}]`;
  try {
    new RegExp(source, 'u');
    return source;
  } catch {
    return NOTHING;
  }
}

const coded = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;

/** True when the last rule that fits, of all the sets, ignores the path. */
export function isIgnored(sets: readonly IgnoreRules[], path: string, folder: boolean): boolean {
  let ignored = false;
  for (const { base, rules } of sets) {
    if (base !== '' && !path.startsWith(`${base}/`)) continue;
    const inner = base === '' ? path : path.slice(base.length + 1);
    for (const rule of rules) if ((folder || !rule.folders) && rule.pattern.test(inner)) ignored = !rule.not;
  }
  return ignored;
}
