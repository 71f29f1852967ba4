import { withoutTail } from '#platform/text.ts';
import { type Glob, globFits, readGlob } from './glob.ts';

/**
 * Patterns of gitignore: `*`, `?`, `[a-z]` and `**` as usual, `!` negates, a trailing `/` matches folders only, any
 * other slash anchors the pattern to the folder of the file.
 */

interface Rule {
  glob: Glob;
  /** Anchored to the folder of the file; otherwise it matches the last name of a path. */
  tied: boolean;
  not: boolean;
  folders: boolean;
}

export interface IgnoreRules {
  /** Folder of the rules, relative like the paths; empty is the top. */
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
  const text = withoutSpaces(not ? line.slice(1) : line);
  const bare = withoutTail(text, '/');
  const glob = readGlob(bare.startsWith('/') ? bare.slice(1) : bare);
  return { glob, tied: bare.includes('/'), not, folders: text.endsWith('/') };
}

/** Removes trailing spaces, except an escaped one. */
function withoutSpaces(line: string): string {
  const bare = withoutTail(line, ' ');
  return bare.endsWith('\\') && bare.length < line.length ? `${bare} ` : bare;
}

/** True when the last matching rule of all sets ignores the path. */
export function isIgnored(sets: readonly IgnoreRules[], path: string, folder: boolean): boolean {
  let ignored = false;
  for (const { base, rules } of sets) {
    if (base !== '' && !path.startsWith(`${base}/`)) continue;
    const inner = base === '' ? path : path.slice(base.length + 1);
    const name = inner.slice(inner.lastIndexOf('/') + 1);
    for (const { glob, tied, not, folders } of rules)
      if ((folder || !folders) && globFits(glob, tied ? inner : name)) ignored = !not;
  }
  return ignored;
}
